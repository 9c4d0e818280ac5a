import { anyOf } from './normalize.ts';

/** What hardly anything but a refusal says. */
export const REFUSAL = anyOf(
  "incorrect, invalid, wrong, failed, failure, denied, not recognized, not recognised, unrecognized, unrecognised, doesn't match, does not match, no match",
  "do not match, don't match, didn't match, did not match, doesn't exist, does not exist, not exist, no account found, no account with, no account exists, no user found, no user with, couldn't find, could not find, can't find, cannot find, don't recognize, didn't recognize",
  "not found, couldn't sign, could not sign, can't sign, cannot sign, couldn't log, could not log, cannot log, can't log, not valid, isn't valid, is not valid, isn't right, is not right, are not right, aren't right, not correct, isn't correct, not registered, bad credentials, bad password, bad username",
  "too many, went wrong, didn't work, did not work, mismatch, unknown user, account is locked, account locked, account has been locked, account is disabled, temporarily locked, suspended, unauthorized, not authorized, has expired, was not accepted",
  'falsch*, ungultig*, fehlgeschlagen, nicht korrekt, nicht richtig, stimmt nicht, stimmen nicht, nicht gefunden, unbekannt*, gesperrt, abgelaufen, inkorrekt, nicht erkannt, existiert nicht, fehlerhaft*, nicht moglich',
  'onjuist*, ongeldig*, mislukt, verkeerd*, felaktig*, ogiltig*, misslyckades, stammer inte, forkert*, ugyldig*, mislykkedes, virheellinen, vaara, epaonnistui, incorrect, niet gevonden, klopt niet',
  'incorrecte, incorrects, incorrectes, invalide, invalides, errone*, echec, echoue, introuvable, inconnu*, ne correspond*, incorrecto*, incorrecta*, invalido*, invalida*, fallido, no coincide*, no existe, bloqueada, caducado, no reconoc*, no valido, no valida, no es valid*',
  'errato, errata, errate, errati, non valido, non valida, non valide, non corrett*, non riuscito, scaduto, bloccato, non riconosciut*, sbagliat*, incorreto*, incorreta*, falhou, expirado, bloqueado, nao encontrado, nao encontramos, nao confere*, nao coincide*',
  'nieprawidlow*, niepoprawn*, bledn*, bledne, nie powiodlo, wygasl*, zablokowan*, spatn*, nespravn*, neplatn*, hibas, helytelen, ervenytelen, sikertelen, hatali, yanlis, gecersiz, basarisiz, bulunamadi, suresi doldu, kilitlendi',
  'khong dung, khong hop le, khong chinh xac, salah, gagal, tidak valid, tidak cocok, incorecta, incorect, gresit*, pogresn*, neispravn*, napacn*',
  'неверн, неправильн, не найден, не удалось, истек, заблокирован, недействительн, некорректн, не совпада, невірн, не знайден, λάθος, λανθασμέν, μη έγκυρ, δεν είναι έγκυρ',
  '正しくありません, 正しくない, 間違, 誤り, 誤って, 無効, 失敗, 見つかりません, 一致しません, 期限切れ, ロックされ, できませんでした, 異なり, 違い',
  '错误, 不正确, 无效, 失败, 不存在, 有误, 已过期, 锁定, 不匹配, 錯誤, 不正確, 無效, 失敗, 有誤, 잘못, 올바르지, 일치하지, 유효하지, 실패, 찾을 수 없, 만료, 존재하지, 틀렸, 틀린',
  'غير صحيح, غير صالح, فشل, שגוי, שגויים, אינו תקין, אינם נכונים, ไม่ถูกต้อง, ผิดพลาด, गलत, अमान्य',
);

/** What an error says, but other texts say too. */
export const COMPLAINT = anyOf(
  'error, errors, unable to, required, please enter, please provide, please fill, must be, must not, locked, disabled, blocked, expired, try again, please try again, attempts, not allowed, problem, oops, sorry, cannot be blank, cannot be empty, missing, enter a valid, enter your, fill out, expired link',
  'fehler, erneut, bitte geben, eingeben, erforderlich, pflichtfeld, opnieuw, verplicht, fout, fel, feil, fejl, virhe, erreur, reessayer, veuillez, obligatoire, requis, saisissez, obligatorio, error, intentalo de nuevo, vuelve a intentarlo, introduce',
  'errore, riprova, obbligatorio, inserisci, inserire, erro, tente novamente, informe, preencha, blad, sprobuj ponownie, wymagane, wprowadz, chyba, zadejte, hiba, kotelezo, hata, tekrar deneyin, gerekli, giriniz, loi, vui long, eroare, wajib diisi',
  'ошибк, попробуйте, введите, обязательн, укажите, помилк, введіть, σφάλμα, エラー, 入力してください, 入力して下さい, もう一度, 必須, 请输入, 請輸入, 不能为空, 重试, 오류, 입력하세요, 입력해, 다시, خطأ, שגיאה, กรุณา',
);

/** Words of messages that look like errors and are none. */
export const GOOD_NEWS = anyOf(
  'success, successfully, signed out, logged out, you have been signed out, you have been logged out, check your email, welcome, has been sent, we sent, code sent, saved, updated, copied, email sent, sent to',
  'cookie, cookies, gdpr, privacy policy, consent, javascript, browser is not supported, outdated browser, unsupported browser, maintenance, scheduled, upgrade your browser, capslock, caps lock',
  'erfolgreich, abgemeldet, gesendet, deconnecte, deconnectee, succes, cerrado sesion, sesion cerrada, exito, disconnesso, sucesso, wylogowan*, basarili, вышли, успешно, ログアウトしました, 成功, 已退出, 성공, 로그아웃되었습니다',
);

/** Why a login is asked for at all. It may stand in a red box, but nobody refused anything. */
export const ASKS_LOGIN = anyOf(
  'session expired, session has expired, session is expired, session timed out, session has timed out, logged out due to inactivity, signed out due to inactivity',
  'please log in to continue, please sign in to continue, must log in, must be logged in, must sign in, need to log in, need to sign in, need to be logged in, log in to continue, sign in to continue, log in to access, please log in to access, login required',
  'sitzung ist abgelaufen, sitzung abgelaufen, sie mussen sich anmelden, bitte melden sie sich an, session a expire, session expiree, devez vous connecter, sesion ha caducado, sesion ha expirado, sesion expirada, debes iniciar sesion, sessione scaduta, sessione e scaduta',
  'sessao expirou, sessao expirada, sesja wygasla, oturumunuz sona erdi, oturum suresi, sessie is verlopen, сессия истекла, セッションの有効期限, ログインしてください, 会话已过期, 请先登录, 세션이 만료, 로그인이 필요',
);
