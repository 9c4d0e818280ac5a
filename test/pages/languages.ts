/** What a login page says, in one language. */
export interface Words {
  readonly code: string;
  readonly rtl?: boolean;
  readonly user: string;
  readonly email: string;
  readonly password: string;
  readonly signIn: string;
  readonly forgot: string;
  readonly remember: string;
  readonly signUp: string;
  readonly newPassword: string;
  readonly repeatPassword: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly search: string;
  readonly subscribe: string;
  readonly next: string;
  readonly oneTimeCode: string;
  readonly terms: string;
  readonly save: string;
  readonly contact: string;
}

const KEYS = [
  'code',
  'user',
  'email',
  'password',
  'signIn',
  'forgot',
  'remember',
  'signUp',
  'newPassword',
  'repeatPassword',
  'firstName',
  'lastName',
  'search',
  'subscribe',
  'next',
  'oneTimeCode',
  'terms',
  'save',
  'contact',
] as const;

/** One language a line, in the order of the keys above. */
const LINES = `
en|Username|Email address|Password|Sign in|Forgot your password?|Remember me|Create account|New password|Confirm password|First name|Last name|Search|Subscribe to our newsletter|Continue|Verification code|I agree to the terms and conditions|Save changes|Contact us
de|Benutzername|E-Mail-Adresse|Passwort|Anmelden|Passwort vergessen?|Angemeldet bleiben|Konto erstellen|Neues Passwort|Passwort wiederholen|Vorname|Nachname|Suche|Newsletter abonnieren|Weiter|Bestätigungscode|Ich akzeptiere die AGB|Änderungen speichern|Kontakt
fr|Identifiant|Adresse e-mail|Mot de passe|Se connecter|Mot de passe oublié ?|Se souvenir de moi|Créer un compte|Nouveau mot de passe|Confirmer le mot de passe|Prénom|Nom de famille|Rechercher|S'abonner à la newsletter|Suivant|Code de vérification|J'accepte les conditions générales|Enregistrer|Contactez-nous
es|Usuario|Correo electrónico|Contraseña|Iniciar sesión|¿Olvidaste tu contraseña?|Recordarme|Crear cuenta|Nueva contraseña|Repetir contraseña|Nombre|Apellidos|Buscar|Suscríbete al boletín|Siguiente|Código de verificación|Acepto los términos y condiciones|Guardar cambios|Contacto
it|Nome utente|Indirizzo e-mail|Password|Accedi|Password dimenticata?|Ricordami|Crea un account|Nuova password|Conferma password|Nome|Cognome|Cerca|Iscriviti alla newsletter|Avanti|Codice di verifica|Accetto i termini e le condizioni|Salva modifiche|Contatti
pt|Nome de usuário|E-mail|Senha|Entrar|Esqueceu a senha?|Lembrar-me|Criar conta|Nova senha|Confirmar senha|Nome|Sobrenome|Pesquisar|Assine a newsletter|Continuar|Código de verificação|Aceito os termos e condições|Salvar alterações|Fale conosco
nl|Gebruikersnaam|E-mailadres|Wachtwoord|Inloggen|Wachtwoord vergeten?|Onthoud mij|Account aanmaken|Nieuw wachtwoord|Herhaal wachtwoord|Voornaam|Achternaam|Zoeken|Aanmelden voor de nieuwsbrief|Volgende|Verificatiecode|Ik ga akkoord met de voorwaarden|Wijzigingen opslaan|Contact
sv|Användarnamn|E-postadress|Lösenord|Logga in|Glömt lösenordet?|Kom ihåg mig|Skapa konto|Nytt lösenord|Upprepa lösenord|Förnamn|Efternamn|Sök|Prenumerera på nyhetsbrevet|Nästa|Verifieringskod|Jag godkänner villkoren|Spara ändringar|Kontakta oss
pl|Nazwa użytkownika|Adres e-mail|Hasło|Zaloguj się|Nie pamiętasz hasła?|Zapamiętaj mnie|Utwórz konto|Nowe hasło|Powtórz hasło|Imię|Nazwisko|Szukaj|Zapisz się do newslettera|Dalej|Kod weryfikacyjny|Akceptuję regulamin|Zapisz zmiany|Kontakt
cs|Uživatelské jméno|E-mailová adresa|Heslo|Přihlásit se|Zapomněli jste heslo?|Zapamatovat si mě|Vytvořit účet|Nové heslo|Heslo znovu|Jméno|Příjmení|Hledat|Odebírat newsletter|Další|Ověřovací kód|Souhlasím s podmínkami|Uložit změny|Kontakt
tr|Kullanıcı adı|E-posta adresi|Şifre|Giriş yap|Şifremi unuttum|Beni hatırla|Hesap oluştur|Yeni şifre|Şifre tekrar|Ad|Soyad|Ara|Bültene abone ol|İleri|Doğrulama kodu|Koşulları kabul ediyorum|Kaydet|İletişim
ru|Имя пользователя|Электронная почта|Пароль|Войти|Забыли пароль?|Запомнить меня|Зарегистрироваться|Новый пароль|Повторите пароль|Имя|Фамилия|Поиск|Подписаться на рассылку|Далее|Код подтверждения|Я принимаю условия|Сохранить|Контакты
ja|ユーザー名|メールアドレス|パスワード|ログイン|パスワードをお忘れですか？|ログイン状態を保持|アカウント作成|新しいパスワード|パスワード（確認）|名|姓|検索|メルマガを購読|次へ|認証コード|利用規約に同意する|保存|お問い合わせ
zh|用户名|电子邮箱|密码|登录|忘记密码？|记住我|注册|新密码|确认密码|名字|姓氏|搜索|订阅|下一步|验证码|我同意服务条款|保存|联系我们
ko|사용자 이름|이메일|비밀번호|로그인|비밀번호를 잊으셨나요?|로그인 상태 유지|회원가입|새 비밀번호|비밀번호 확인|이름|성|검색|뉴스레터 구독|다음|인증 코드|약관에 동의합니다|저장|문의하기
ar|اسم المستخدم|البريد الإلكتروني|كلمة المرور|تسجيل الدخول|هل نسيت كلمة المرور؟|تذكرني|إنشاء حساب|كلمة المرور الجديدة|تأكيد كلمة المرور|الاسم الأول|اسم العائلة|بحث|اشترك في النشرة|التالي|رمز التحقق|أوافق على الشروط|حفظ|اتصل بنا
he|שם משתמש|דואר אלקטרוני|סיסמה|התחברות|שכחת סיסמה?|זכור אותי|הרשמה|סיסמה חדשה|אימות סיסמה|שם פרטי|שם משפחה|חיפוש|הירשם לניוזלטר|הבא|קוד אימות|אני מסכים לתנאים|שמירה|צור קשר
hu|Felhasználónév|E-mail cím|Jelszó|Bejelentkezés|Elfelejtette jelszavát?|Emlékezz rám|Regisztráció|Új jelszó|Jelszó újra|Keresztnév|Vezetéknév|Keresés|Feliratkozás hírlevélre|Tovább|Ellenőrző kód|Elfogadom a feltételeket|Mentés|Kapcsolat
el|Όνομα χρήστη|Διεύθυνση email|Κωδικός πρόσβασης|Σύνδεση|Ξεχάσατε τον κωδικό;|Να με θυμάσαι|Δημιουργία λογαριασμού|Νέος κωδικός|Επιβεβαίωση κωδικού|Όνομα|Επώνυμο|Αναζήτηση|Εγγραφή στο newsletter|Συνέχεια|Κωδικός επαλήθευσης|Αποδέχομαι τους όρους|Αποθήκευση|Επικοινωνία
vi|Tên đăng nhập|Địa chỉ email|Mật khẩu|Đăng nhập|Quên mật khẩu?|Ghi nhớ đăng nhập|Đăng ký|Mật khẩu mới|Nhập lại mật khẩu|Tên|Họ|Tìm kiếm|Đăng ký nhận bản tin|Tiếp tục|Mã xác minh|Tôi đồng ý với điều khoản|Lưu|Liên hệ
`;

const RIGHT_TO_LEFT = new Set(['ar', 'he']);

/** All languages of the corpus, English first. */
export const LANGUAGES: readonly Words[] = LINES.trim()
  .split('\n')
  .map((line) => {
    const parts = line.split('|');
    const entries = Object.fromEntries(KEYS.map((key, at) => [key, parts[at] ?? ''])) as Record<
      (typeof KEYS)[number],
      string
    >;
    return { ...entries, rtl: RIGHT_TO_LEFT.has(entries.code) };
  });

/** English. */
export const ENGLISH: Words = LANGUAGES[0] ?? failEmpty();

function failEmpty(): never {
  throw new Error('The list of languages is empty');
}
