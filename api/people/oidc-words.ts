import type { Language } from '../hosted/shell.ts';
import type { OidcErrorReason } from './oidc-errors.ts';

/** What an error page says: what happened, and what to do next. */
export interface ErrorPageWords {
  title: string;
  happened: string;
  next: string;
}

/** OIDC refusals, and errors that can occur on any route. */
export type OidcErrorKind = OidcErrorReason | 'too_often' | 'fault';

interface OidcWords {
  again: string;
  toSignIn: string;
  toConsole: string;
  refusals: Readonly<Record<OidcErrorKind, ErrorPageWords>>;
}

/** Texts of the identity provider's error pages. */
export const OIDC_WORDS: Readonly<Record<Language, OidcWords>> = {
  en: {
    again: 'Sign in with the identity provider again',
    toSignIn: 'Back to sign-in',
    toConsole: 'Back to the console',
    refusals: {
      oidc_not_configured: {
        title: 'No identity provider is set up',
        happened: 'This installation of Holdfast does not use an identity provider.',
        next: 'Sign in with a password, a passkey or a sign-in link. Whoever operates Holdfast can set up a provider.',
      },
      oidc_unavailable: {
        title: 'Your identity provider is not responding',
        happened: 'Holdfast got no usable answer from the provider.',
        next: 'Try again in a few minutes. If this keeps happening, tell whoever runs the provider, or sign in another way.',
      },
      oidc_expired: {
        title: 'This sign-in has expired',
        happened: 'It was started in another browser or more than ten minutes ago, or was already used.',
        next: 'Start again, and stay in this browser until you are back here.',
      },
      oidc_refused: {
        title: 'Your identity provider did not let you in',
        happened: 'You were sent back without being signed in, or the sign-in was canceled there.',
        next: 'Start again. If this keeps happening, ask whoever manages your accounts at the provider to let you use Holdfast.',
      },
      oidc_no_proof: {
        title: 'The sign-in could not be verified',
        happened: 'The provider’s answer does not belong to the sign-in that was started in this browser.',
        next: 'Start again. If this keeps happening, ask whoever operates Holdfast to check how the provider is set up.',
      },
      oidc_unverified_email: {
        title: 'Your email address is not verified',
        happened: 'The identity provider has no verified email address for you.',
        next: 'Verify your address at the provider, or ask whoever manages your account there, then sign in again.',
      },
      oidc_no_member: {
        title: 'You are not a member here',
        happened: 'The provider knows who you are, but you are not a member of any organization here.',
        next: 'Ask an owner of your organization to invite you, then open the invitation link.',
      },
      oidc_other_account: {
        title: 'This address belongs to another account',
        happened: 'Someone with your email address has already signed in with another account at the provider.',
        next: 'Sign in with that account. If it no longer exists, ask an owner of your organization to invite you again.',
      },
      oidc_other_person: {
        title: 'Someone else is signed in at the provider',
        happened:
          'You are signed in to Holdfast as someone other than the person the provider named. Nothing was confirmed.',
        next: 'Confirm again, and sign in at the provider as yourself.',
      },
      oidc_old_sign_in: {
        title: 'The provider did not ask you to sign in again',
        happened:
          'It answered with an earlier sign-in, which does not prove that it is you now. Nothing was confirmed.',
        next: 'Sign out at the provider, then confirm again. If this keeps happening, ask whoever runs the provider.',
      },
      oidc_session_over: {
        title: 'Your session has ended',
        happened: 'The session to confirm has ended or belongs to another browser.',
        next: 'Sign in again.',
      },
      too_often: {
        title: 'Too many attempts',
        happened: 'There were too many sign-in attempts from your network.',
        next: 'Wait a few minutes, then sign in again.',
      },
      fault: {
        title: 'Something went wrong',
        happened: 'The sign-in failed. It is not your fault.',
        next: 'Try again. If this keeps happening, tell whoever operates Holdfast.',
      },
    },
  },
  de: {
    again: 'Noch einmal über den Identitätsanbieter anmelden',
    toSignIn: 'Zurück zur Anmeldung',
    toConsole: 'Zurück zur Konsole',
    refusals: {
      oidc_not_configured: {
        title: 'Kein Identitätsanbieter ist eingerichtet',
        happened: 'Diese Installation von Holdfast meldet niemanden über einen Identitätsanbieter an.',
        next: 'Melde dich mit Passwort, Passkey oder Anmeldelink an. Wer Holdfast betreibt, kann einen Anbieter einrichten.',
      },
      oidc_unavailable: {
        title: 'Dein Identitätsanbieter antwortet nicht',
        happened: 'Holdfast hat den Anbieter gefragt und keine brauchbare Antwort bekommen.',
        next: 'Versuche es in ein paar Minuten noch einmal. Bleibt es dabei, sag es denen, die den Anbieter betreiben, oder melde dich anders an.',
      },
      oidc_expired: {
        title: 'Diese Anmeldung ist abgelaufen',
        happened: 'Sie begann in einem anderen Browser, vor mehr als zehn Minuten, oder wurde schon benutzt.',
        next: 'Beginne noch einmal, und bleibe in diesem Browser, bis du wieder hier bist.',
      },
      oidc_refused: {
        title: 'Dein Identitätsanbieter hat dich nicht hereingelassen',
        happened: 'Du wurdest ohne Anmeldung zurückgeschickt, oder sie wurde dort abgebrochen.',
        next: 'Beginne noch einmal. Bleibt es dabei, bitte die Leute, die deine Konten beim Anbieter betreuen, dir Holdfast zu erlauben.',
      },
      oidc_no_proof: {
        title: 'Die Anmeldung ließ sich nicht beweisen',
        happened: 'Was vom Anbieter zurückkam, gehört nicht zu der Anmeldung, die in diesem Browser begann.',
        next: 'Beginne noch einmal. Bleibt es dabei, bitte die Leute, die Holdfast betreiben, den Anbieter zu prüfen.',
      },
      oidc_unverified_email: {
        title: 'Deine E-Mail-Adresse ist nicht bestätigt',
        happened: 'Der Identitätsanbieter nennt keine E-Mail-Adresse von dir, die er geprüft hat.',
        next: 'Bestätige sie beim Anbieter, oder bitte die Leute darum, die dort dein Konto betreuen. Melde dich dann neu an.',
      },
      oidc_no_member: {
        title: 'Du bist hier kein Mitglied',
        happened: 'Der Anbieter weiß, wer du bist, aber du gehörst zu keiner Organisation dieser Installation.',
        next: 'Bitte einen Eigentümer deiner Organisation um eine Einladung, und öffne dann ihren Link.',
      },
      oidc_other_account: {
        title: 'Diese Adresse gehört zu einem anderen Konto',
        happened: 'Jemand mit deiner E-Mail-Adresse hat sich schon mit einem anderen Konto des Anbieters angemeldet.',
        next: 'Melde dich mit jenem Konto an. Gibt es das nicht mehr, bitte einen Eigentümer deiner Organisation um eine neue Einladung.',
      },
      oidc_other_person: {
        title: 'Beim Anbieter hat sich jemand anderes angemeldet',
        happened:
          'Du bist bei Holdfast als jemand anderes angemeldet, als der Anbieter genannt hat. Nichts wurde bestätigt.',
        next: 'Bestätige es noch einmal, und melde dich beim Anbieter als du selbst an.',
      },
      oidc_old_sign_in: {
        title: 'Der Anbieter hat dich nicht neu gefragt',
        happened:
          'Er hat mit einer früheren Anmeldung geantwortet; die zeigt nicht, dass du es jetzt bist. Nichts wurde bestätigt.',
        next: 'Melde dich beim Anbieter ab, und bestätige es noch einmal. Bleibt es dabei, frage die Leute, die den Anbieter betreiben.',
      },
      oidc_session_over: {
        title: 'Deine Sitzung ist beendet',
        happened: 'Die Sitzung, die bestätigt werden sollte, ist vorbei oder gehört zu einem anderen Browser.',
        next: 'Melde dich neu an.',
      },
      too_often: {
        title: 'Zu viele Versuche',
        happened: 'Aus deinem Netz hat sich jemand sehr oft anzumelden versucht.',
        next: 'Warte ein paar Minuten, und melde dich dann neu an.',
      },
      fault: {
        title: 'Holdfast hat versagt',
        happened: 'Die Anmeldung endete mit einem Fehler, für den du nichts kannst.',
        next: 'Versuche es noch einmal. Bleibt es dabei, sag es den Leuten, die Holdfast betreiben.',
      },
    },
  },
};
