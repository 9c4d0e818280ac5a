import { anyOf } from './normalize.ts';

/*
 * What sites say, by meaning, in the languages we know. One list per meaning; the languages stand in it line by line: English;
 * German, Dutch and the Nordic languages; French, Spanish, Italian, Portuguese, Romanian; Polish, Czech, Hungarian, Turkish,
 * Vietnamese, Indonesian; Russian, Ukrainian, Greek; Japanese, Chinese, Korean; Arabic, Hebrew, Thai, Hindi.
 */

/** A name for a user name, a customer number and the like. */
export const USER = anyOf(
  'user, username, user name, user id, userid, uid, login, login name, login id, logon, loginid',
  'account, account name, account id, account number, member id, member number, customer id, customer number',
  'userlogin, usr, identifier, sign in id, signin, employee id, student id, screen name, handle, log',
  'benutzer*, nutzer*, anmeldename, kennung, kundennummer, kontonummer, zugangsnummer, mitgliedsnummer',
  'gebruiker*, klantnummer, anvandar*, kundnummer, personnummer, bruger*, bruker*, kayttaja*',
  "identifiant, nom d'utilisateur, utilisateur, numero client, usuario, nombre de usuario, utente, nome utente",
  'codice cliente, nome de usuario, utilizador, nome de utilizador, utilizator, nume utilizator, cpf, dni, rut',
  'uzytkownik*, nazwa uzytkownika, numer klienta, uzivatel*, felhasznalo*, kullanici*, musteri*, ten dang nhap',
  'tai khoan, nama pengguna, korisnicko ime, uporabnisko ime',
  "имя пользователя, пользовател, логин, ім'я користувача, логін, όνομα χρήστη, χρήστη",
  'ユーザー, ユーザ, ログインid, 会員番号, アカウント, お客様番号, 利用者, 用户, 用戶, 账号, 帐号, 帳號, 账户',
  '帳戶, 使用者, 会员, 아이디, 사용자, 계정, اسم المستخدم, שם משתמש, ชื่อผู้ใช้, उपयोगकर्ता',
  'inlognaam, zugangsnummer, zugangsdaten, codice fiscale, codice utente, codice titolare, pseudo, conta, documento, rut, nif, cedula, tc kimlik, t.c. kimlik, brugernavn, brukernavn, naudotoj*, lietotaj*, identyfikator*, identifikator*, identificador, identificativo, identificator, id pengguna, id dang nhap',
  'потребителск*, корисничко, снилс, ідентифікатор, نام کاربری, شناسه کاربری, תעודת זהות, קוד משתמש, यूज़र, ইউজার, ব্যবহারকারী, 会員id, 口座番号, 代號, 身分證, 身份证, 工号, 学号',
);

/** A name for an e-mail address. */
export const EMAIL = anyOf(
  'email, e mail, mail, email address, mail address, emailaddress, loginemail, useremail, upn',
  'mailadresse, mailadres, e postadress, epost, e post, epostadresse, sahkoposti*',
  'courriel, adresse electronique, correo, correo electronico, posta elettronica, correio',
  'adres e mail, e posta, eposta, emailov*, e mailov*, email cim, surel, thu dien tu',
  'почта, эл. адрес, пошта, メール, 邮箱, 電子郵件, 电子邮件, 电邮, 信箱, 이메일, 메일, البريد, דואר, อีเมล, ईमेल',
  'correu electronic, e posto, elektroniskais pasts, имейл, ел. пошта, ел. поща, ایمیل, پست الکترونیک, इमेल, ইমেইল',
);

/** A name for a phone number. */
export const PHONE = anyOf(
  'phone, mobile, phone number, mobile number, telephone, tel, cell, msisdn, cellphone',
  'telefon*, handynummer, mobilnummer, rufnummer, telefoonnummer, mobilnummer, puhelin*',
  'telefono, telephone, portable, movil, celular, cellulare, telemovel, numer telefonu, cep telefonu',
  'телефон, 電話, 手机, 手機, 휴대폰, 휴대전화, 전화, الهاتف, טלפון',
  'nomor hp, nomor ponsel, so dien thoai, numer telefonu, telefonszam, мобильный, номер телефону, شماره موبایل, موبایل, الجوال, מספר נייד, मोबाइल, เบอร์โทร, 휴대폰 번호, 携帯電話',
);

/** A name for a password. */
export const PASSWORD = anyOf(
  'password, passwd, pwd, pass, passphrase, pass word, userpass, loginpassword, userpassword, passcode',
  'passwort, kennwort, wachtwoord, losenord, adgangskode, passord, salasana, kodeord',
  'mot de passe, mdp, contrasena, clave, senha, palavra passe, parola, contrasenya',
  'haslo, heslo, jelszo, sifre*, mat khau, kata sandi, lozinka, geslo',
  'пароль, κωδικός πρόσβασης, パスワード, 暗証番号, 密码, 密碼, 口令, 비밀번호, كلمة المرور, כלת סיסמה, סיסמה, รหัสผ่าน',
  'slaptazod*, parole, parool, kata laluan, code secret, code confidentiel, password internet, pin internet',
  'парола, лозинка, رمز عبور, گذرواژه, كلمة السر, סיסמא, पासवर्ड, পাসওয়ার্ড, 密\u3000码, 網路密碼, συνθηματικό',
);

/** What a site wants to know of a person who joins: names, birth, address. */
export const PERSON = anyOf(
  'first name, firstname, last name, lastname, full name, fullname, given name, family name, display name, middle name, surname, sur name, company name, company, organization, organisation, message, subject, comment, address, city, birth*, date of birth, dob',
  'vorname, nachname, familienname, anrede, geburtsdatum, strasse, hausnummer, firma, voornaam, achternaam, geboortedatum, straat, fornamn, efternamn, fodelsedatum, fornavn, etternavn, efternavn, fodselsdato, etunimi, sukunimi, syntymaaika',
  'prenom, nom de famille, civilite, date de naissance, ville, apellido*, fecha de nacimiento, direccion, ciudad, cognome, data di nascita, indirizzo, sobrenome, apelido, nome completo, nombre completo, data de nascimento, endereco, cidade, prenume, data nasterii',
  'nazwisko, data urodzenia, prijmeni, priezvisko, datum narozeni, datum narodenia, vezeteknev, keresztnev, teljes nev, szuletesi datum, soyad*, ad soyad, dogum tarihi, ho ten, ho va ten, ngay sinh, dia chi, nama lengkap, nama depan, tanggal lahir, prezime',
  'фамилия, фио, отчество, дата рождения, прізвище, дата народження, фамилно име, επώνυμο, ονοματεπώνυμο, ημερομηνία γέννησης, 姓名, 名字, 氏名, お名前, 生年月日, 出生日期, 住所, 地址, 성명, 이름, 생년월일, 주소',
  'الاسم الأول, الاسم الكامل, اسم العائلة, تاريخ الميلاد, שם פרטי, שם משפחה, שם מלא, תאריך לידה, نام خانوادگی, تاریخ تولد, นามสกุล, วันเกิด, पूरा नाम, उपनाम, जन्म तिथि',
);

/** A name; that of an account has a word for it beside. */
export const NAME = anyOf(
  'your name, naam, namn, navn, nimi, nom, nombre, nombres, nome, nume, imie, jmeno, meno, nev, ad, adi, adiniz, isim, nama, ime, ten',
  "имя, ім'я, име, όνομα, الاسم, שם, نام, ชื่อ, नाम",
);

/** A password that is to be set, not given. */
export const NEW_PASSWORD = anyOf(
  'new password, confirm password, repeat password, retype password, password confirmation, password again',
  'verify password, choose a password, create password, create a password, re enter password, password2, password repeat',
  'confirm, confirmation, repeat, retype, newpassword, repassword, confirmpassword, passwordconfirm',
  'neues passwort, passwort bestatigen, passwort wiederholen, nouveau mot de passe, confirmer le mot de passe',
  'choisissez un mot de passe, creez un mot de passe, crea una contrasena, elige una contrasena, crea una password, scegli una password, crie uma senha, escolha uma senha, kies een wachtwoord, passwort wahlen, passwort festlegen',
  'valg adgangskode, velg passord, valj losenord, luo salasana, utworz haslo, ustaw haslo, zvolte heslo, vytvorte heslo, sifre olustur, tao mat khau, dat mat khau, buat kata sandi, придумайте, створіть пароль, 设置密码, 請設定密碼, 設定密碼, パスワードを設定',
  'confirmez, nueva contrasena, confirmar, repetir, conferma, nuova password, nova senha, powtorz, yeni sifre',
  'новый пароль, повторите, подтвердите, 新しいパスワード, 確認用, パスワード(確認), 新密码, 确认密码, 確認密碼, 비밀번호 확인',
);

/** A password given for the second time. */
export const REPEAT = anyOf(
  'confirm*, repeat, retype, re type, again, verify, re enter, reenter, wiederholen, bestatigen, erneut, wiederholung, nochmals, confirmez, confirmer, repetez, retapez',
  'confirmar, confirma, repetir, repita, repite, conferma, ripeti, repita a, herhaal, herhalen, bevestig, upprepa, bekrafta, gentag, gjenta, bekreft, vahvista, powtorz, potwierdz, znovu, zopakujte, potvrdit',
  'ujra, megerosites*, tekrar, yeniden, nhap lai, xac nhan, ulangi, konfirmasi, confirmati, повторите, подтвержден, подтвердите, ещё раз, επιβεβαίωση, επανάληψη',
  '確認, もう一度, 再入力, 确认, 再次, 確認, 重复, 확인, 다시, تأكيد, إعادة, אימות, חזור, ยืนยัน',
  'confirme, confirmer, ponovi*, potvrd*, pakartokite, noch einmal, la ancora, подтверждение, повтор, потвърд, تکرار, पुष्टि, নিশ্চিত, 재입력',
);

/** Setting a password or getting into an account for the first time. */
export const SETS_PASSWORD = anyOf(
  'activate, activation, set password, set a password, set your password, create password, create a password, create your password, choose a password, choose password, reset password, reset your password',
  'change password, change your password, update password, update your password, new password, save, save changes, complete registration, complete your registration, finish, accept invitation',
  'aktivieren, aktivierung, passwort festlegen, passwort andern, neues passwort, speichern, anderungen speichern, activer, activez, activation, definir le mot de passe, choisissez un mot de passe, nouveau mot de passe, enregistrer',
  'activar, activa, activacion, crea una contrasena, crear contrasena, cambiar contrasena, guardar, guardar cambios, nueva contrasena, attiva, attivare, attivazione, scegli una password, nuova password, salva, salva modifiche',
  'ativar, ative, ativacao, crie uma senha, nova senha, alterar senha, salvar, salvar alteracoes, activeren, kies een wachtwoord, nieuw wachtwoord, opslaan, wijzigingen opslaan, aktivera, spara, spara andringar, nytt losenord',
  'aktywuj, aktywacja, nowe haslo, zmien haslo, zapisz, zapisz zmiany, aktivovat, nove heslo, ulozit, ulozit zmeny, aktivalas, uj jelszo, mentes, etkinlestir, yeni sifre, kaydet, kich hoat, mat khau moi, luu',
  'активировать, активация, придумайте пароль, новый пароль, изменить пароль, сохранить, ενεργοποίηση, νέος κωδικός, αποθήκευση',
  '有効化, パスワードを設定, パスワード変更, 新しいパスワード, 保存, 激活, 设置密码, 修改密码, 新密码, 保存, 활성화, 비밀번호 설정, 새 비밀번호, 저장, تفعيل, حفظ, كلمة المرور الجديدة, הפעלה, סיסמה חדשה, שמירה',
);

/** Buying, paying, following an order, writing: forms with addresses and codes that sign nobody in. */
export const OTHER_PURPOSE = anyOf(
  'checkout, place order, pay, pay now, payment, guest, as guest, guest checkout, order number, order status, track, track order, track your order, booking, booking reference, reservation, redeem, gift card, activation code',
  'promo code, coupon, apply, donate, add to cart, request a demo, get a quote, apply now, test connection, post comment, send message, rsvp, vote, download, invite, invitation code, serial number, license key, product key, unsubscribe',
  'zur kasse, bezahlen, als gast, bestellnummer, sendung verfolgen, einlosen, gutschein*, payer, commander, en tant qu invite, suivi de commande, pagar, realizar pedido, como invitado, paga, ordina, ospite, finalizar compra',
  'delete*, delete account, close account, deactivate*, loschen, konto loschen, supprimer, eliminar, elimina, excluir, verwijderen, usun, удалить, 削除, 删除, 삭제',
  'afrekenen, betalen, als gast, bestelling volgen, zaplac, oplatit, оплатить, заказ, 購入, お支払い, 支付, 结算, 결제',
);

/** Keeping a person signed in. */
export const REMEMBER = anyOf(
  'remember*, keep me, stay signed in, stay logged in, angemeldet bleiben, eingeloggt bleiben, merken, souvenir, rester connecte, recordar*, recuerdame, mantener, ricorda*, resta collegato, lembrar*, manter conectado, continuar conectado',
  'onthoud*, aangemeld blijven, kom ihag, forbli, husk, zapamietaj*, zapamatovat, emlekezz, hatirla*, ghi nho, ingat, запомнить, не выходить, να με θυμάσαι, 保持, 記憶, 记住, 自动登录, 유지, 기억, تذكرني, זכור, จดจำ',
  'memoriser, onthouden, muista minut, pamietaj*, запомни, مرا به خاطر, मुझे याद, ログイン状態, 次回から, 로그인 상태',
);

/** What somebody agrees to who makes an account. */
export const TERMS = anyOf(
  'terms, agree, agreement, conditions, privacy policy, agb, nutzungsbedingungen, datenschutz*, akzeptiere, conditions generales, conditions d utilisation, accepte, terminos, acepto, termini, accetto, termos, aceito, voorwaarden, akkoord',
  'villkor*, godkanner, regulamin, akceptuje, podminkami, souhlasim, felteteleket, elfogadom, kosullari, kabul ediyorum, dieu khoan, dong y, syarat',
  'условия, согласен, принимаю, όρους, αποδέχομαι, 規約, 同意, 条款, 協議, 协议, 약관, 동의, الشروط, أوافق, תנאים, מסכים, ข้อตกลง',
  'villkaar*, vilkar*, kayttoehdot*, podmienkami, uvjet*, conditiile, syarat dan ketentuan, правилами, угод, قوانین, शर्त, ข้อกำหนด, 已阅读',
);

/** A form for a message to the site. */
export const MESSAGE_FORM = anyOf(
  'contact us, contact form, leave a reply, leave a comment, write to us, feedback, kontakt, kontaktformular, contactez nous, contacto, contatti, fale conosco, contacteer, kontakta oss, контакты, お問い合わせ, 联系我们, 문의하기, اتصل بنا, צור קשר',
);

/** A one-time code of any kind. */
export const CODE = anyOf(
  'code, otp, totp, one time code, one time password, one time passcode, passcode, verification code, auth code',
  'security code, authentication code, confirmation code, access code, login code, token, authcode, 2fa, mfa, tfa',
  'twofactor, two factor, otp code, otpcode, pin code, sms code, smscode, verificationcode, securitycode, mfacode',
  'bestatigungscode, sicherheitscode, einmalcode, einmalkennwort, einmalpasswort, zugangscode, tan, mtan, verificatiecode',
  'beveiligingscode, verifieringskod, engangskod, kod, kode, bekreftelseskode, koodi, vahvistuskoodi',
  'code de verification, code de securite, code de confirmation, codigo, codigo de verificacion, codice, codice di verifica',
  'kod weryfikacyjny, overovaci kod, dogrulama kodu, guvenlik kodu, ma xac minh, kode verifikasi, cod de verificare',
  'код, одноразовый, κωδικός επαλήθευσης, コード, 認証番号, ワンタイム, 验证码, 驗證碼, 校验码, 动态码, 인증번호, 인증 코드, 코드, رمز, קוד, รหัสยืนยัน',
);

/** Codes that sign nobody in. */
export const OTHER_CODE = anyOf(
  'zip, zip code, postal, postal code, postcode, country, country code, area code, promo*, coupon, voucher, discount',
  'referral, invite, invitation, gift, language, currency, company code, tenant code, source code, bar code, captcha',
  'postleitzahl, plz, gutschein*, code postal, codigo postal, cap, cep, 郵便番号, 邮编, 优惠',
);

/** A picture or sum to be solved by a human. */
export const CAPTCHA_FIELD = anyOf(
  'captcha, recaptcha, security image, characters you see, text in the image, letters in the image, type the characters',
  'enter the characters, image code, sicherheitsfrage, 図の文字, 图形验证码, 图片验证码, 图中, 圖形驗證碼, 자동입력',
);

/** A search box. */
export const SEARCH = anyOf(
  'search, query, keyword, keywords, find, suche, suchen, suchbegriff, zoeken, sok, recherche, rechercher',
  'buscar, busqueda, cerca, ricerca, pesquisar, busca, szukaj, ara, hledat, поиск, найти, 検索, 搜索, 搜尋, 검색, بحث, חיפוש',
);

/** A form that asks for an address to send news to. */
export const NEWSLETTER = anyOf(
  'newsletter, subscribe, subscription, mailing list, stay updated, stay in the loop, get updates, mailchimp, mc embed*',
  'keep me posted, product updates, latest news, notify me, waitlist, join the list, sign up for our, sign up for updates',
  "abonnieren, nieuwsbrief, nyhetsbrev, s'abonner, abonnez vous, infolettre, suscribir*, suscribete, boletin, iscriviti alla",
  'assine, zapisz sie, biuletyn, abone ol, bulten, подпис, рассылк, メルマガ, ニュースレター, 订阅, 訂閱, 뉴스레터, 구독',
  'rundbrief, suscri*, inscreva se, lettre d information, lettre d informations, nyhedsbrev, uutiskirje, hirlevel, odber noviniek, odber novinek, новини, النشرة, ניוזלטר, خبرنامه, จดหมายข่าว, 電子報, 消息订阅',
);

/** A form that makes a new account. */
export const SIGN_UP = anyOf(
  'sign up, signup, register, registration, create account, create an account, create your account, create new account',
  'new account, join, join now, get started, new user, new customer, new member, open an account, start free trial, free trial',
  'registrieren, registrierung, konto erstellen, konto anlegen, neukunde, registreren, account aanmaken, registrera, skapa konto',
  "s'inscrire, inscription, inscrivez vous, creer un compte, creer mon compte, registrarse, registrate, crear cuenta, crear una cuenta",
  'registrati, crea account, crea un account, iscriviti, cadastre se, cadastrar, criar conta, registar, zarejestruj*, rejestracja, zaloz konto',
  'kayit ol, uye ol, hesap olustur, dang ky, daftar, registrace, зарегистрироваться, регистрация, создать аккаунт, зареєструватися',
  '新規登録, 会員登録, アカウント作成, アカウントを作成, 注册, 註冊, 회원가입, 가입하기, إنشاء حساب, הרשמה, สมัครสมาชิก',
  'konto eroffnen, kundenkonto eroffnen, neu hier, je m inscris, creez votre compte, premiere visite, nouveau client, registro, eres nuevo, crear mi cuenta, cadastro, criar uma conta, nao tenho conta, nieuw account, opret konto, opret bruger, opprett konto, ny bruker, luo tili, rekisteroidy*',
  'regisztr*, cont nou, creeaza cont, inregistr*, registrac*, registrovat*, registruo*, registracija, uyelik olustur, yeni uyelik, dang ky tai khoan, buat akun, daftar sekarang, register te, inschrijven, crea un compte',
  'зарегистр, создать учетную запись, реєстрація, регистрация, εγγραφή, δημιουργία λογαριασμού, ثبت نام, عضویت, تسجيل جديد, مستخدم جديد, حساب جديد, פתיחת חשבון, להרשם, הרשם, पंजीकरण, साइन अप, खाता बनाएं, রেজিস্টার, নিবন্ধন, ลงทะเบียน, สร้างบัญชี, 登録する, 新規, 會員註冊, 立即註冊',
);

/** Signing in, as a heading, a link or a button says it. */
export const SIGN_IN = anyOf(
  'sign in, signin, log in, login, log on, logon, sign on, log me in, sign me in, member login, customer login, client login',
  'signing in, logging in, sign in to, authenticate, einloggen, anmelden, anmeldung, inloggen, aanmelden, logga in, inloggning',
  "log ind, logg inn, kirjaudu, kirjaudu sisaan, connexion, se connecter, connectez vous, s'identifier, identifiez vous, me connecter",
  'iniciar sesion, inicia sesion, inicio de sesion, ingresar, acceder, acceso, entrar, accedi, accesso, iniciar sessao, fazer login',
  'conectare, autentificare, zaloguj*, logowanie, prihlasit*, prihlasenie, prihlaseni, bejelentkez*, giris, giris yap, oturum ac*',
  'dang nhap, masuk, prijava, prijavi se, logi sisse, войти, вход, авторизация, увійти, вхід, σύνδεση, είσοδος',
  'ログイン, サインイン, 登录, 登陆, 登入, 로그인, تسجيل الدخول, دخول, כניסה, התחבר, เข้าสู่ระบบ, लॉग इन, साइन इन',
  'je me connecte, connectez-vous, identification, espace client, acces client, acceso clientes, accede, ingresa, entra, acessar, acesse, identifica t, inicia sessio, belepes, belep*, intra in cont, conecteaza, prihlas*, prisijung*, wejscie, wejdz, pieslegties, ieiet, logg inn, uye girisi, log masuk',
  'войдите, увійдіть, влизане, пријава, 登 录, 登 入, 會員登入, ورود, ورود به حساب, تسجيل دخول, سجل الدخول, התחברות, लॉगिन, লগইন, লগ ইন, ลงชื่อเข้าใช้, ล็อกอิน, συνδεθείτε',
);

/** Going on to the next step, or confirming a code. */
export const CONTINUE = anyOf(
  'next, continue, submit, verify, confirm, proceed, go, ok, send, unlock, validate, done, connect, open',
  'weiter, fortfahren, absenden, bestatigen, prufen, volgende, doorgaan, verder, bevestigen, nasta, fortsatt, neste, naste, bekrafta, jatka',
  'suivant, continuer, valider, verifier, envoyer, siguiente, continuar, enviar, verificar, avanti, continua, invia, verifica, prosegui',
  'avancar, proximo, seguinte, dalej, kontynuuj, potwierdz, pokracovat, dalsi, tovabb, ileri, devam, devam et',
  'dogrula, tiep tuc, tiep theo, lanjut*, berikutnya',
  'далее, продолжить, подтвердить, отправить, далі, επόμενο, συνέχεια, 次へ, 続行, 続ける, 送信, 確認, 認証する, 下一步, 继续, 繼續',
  '确定, 提交, 确认, 다음, 계속, 확인, التالي, متابعة, הבא, המשך, ถัดไป',
  'selanjutnya, urmatorul, continua, gerai, toliau, nastavi, dalje, naprej, seguent, продължи, ادامه, تایید, आगे, পরবর্তী, ดำเนินการต่อ, المتابعة',
);

/** Signing out. */
export const SIGN_OUT = anyOf(
  'sign out, signout, log out, logout, log off, logoff, sign off, abmelden, ausloggen, uitloggen, afmelden, logga ut',
  'log ud, logg ut, kirjaudu ulos, deconnexion, se deconnecter, me deconnecter, cerrar sesion, salir, desconectar, disconnetti, esci',
  'terminar sessao, encerrar sessao, sair, deconectare, wyloguj*, odhlasit*, kijelentkez*, cikis, cikis yap, oturumu kapat, dang xuat, keluar',
  'выйти, выход, вийти, вихід, αποσύνδεση, έξοδος, ログアウト, サインアウト, 退出, 退出登录, 登出, 注销, 로그아웃, تسجيل الخروج, خروج, התנתק, יציאה, ออกจากระบบ',
);

/** Getting back a password or a name: never what sends a login form. */
export const FORGOT = anyOf(
  "forgot*, forgotten, reset, recover, lost your password, trouble, can't, need help, help, remind, vergessen, vergeten, glomt, glemt, unohtunut",
  'oublie, olvidado, olvidaste, olvide, recuperar, dimenticat*, esqueceu, esqueci, nie pamietasz, zapomnia*, zapomen*, unuttum, unuttun*, quen',
  'забыли, забув, お忘れ, 忘れた, 忘记, 忘記, 找回, 찾기, 잊으, نسيت, שכחת, ลืม',
  'elfelejt*, uitat, zaborav*, zabud*, lupa, oblidat, esquec*, unohdi*, pamirs*, не удается войти, не удаётся войти, забрав, ξεχάσ, فراموش, भूल, ভুলে, 忘記密碼, 忘了',
);

/** Buttons beside a form that do something else than sending it. */
export const ASIDE = anyOf(
  'show, hide, show password, hide password, toggle, reveal, cancel, back, close, clear, dismiss, previous, go back, not you, change, edit',
  'resend, resend code, send again, send a new code, get a new code, new code, learn more, privacy, terms',
  'cookie*, accept, accept all, reject, language, reload, refresh, copy, menu, search, reset form',
  'anzeigen, abbrechen, zuruck, schliessen, erneut senden, annuleren, terug, sluiten, avbryt, tillbaka, annuler, retour, fermer, afficher, renvoyer',
  'cancelar, volver, atras, cerrar, mostrar, reenviar, annulla, indietro, chiudi, mostra, voltar, fechar',
  'anuluj, wstecz, zamknij, pokaz, iptal, geri, kapat, goster',
  'отмена, назад, закрыть, показать, キャンセル, 戻る, 閉じる, 表示, 再送, 取消, 返回, 关闭, 显示, 重新发送, 获取验证码, 发送验证码, 取得驗證碼, 취소, 뒤로, 닫기, 표시, 재전송, إلغاء, ביטול',
);
