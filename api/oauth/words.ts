import type { Language } from '../hosted/shell.ts';

/** Texts of the consent pages. Placeholders such as `{client}` are filled with escaped values. */
const EN = {
  title: 'Let a program act for you',
  question: 'Let {client} act for you?',
  asks: '<strong>{client}</strong> asks to use Holdfast as {person}, in the organization <strong>{organization}</strong>.',
  named:
    'The program chose this name itself. You will be sent back to {address}. Continue only if you started this yourself.',
  what: 'What it may do',
  where: 'Where',
  rights: {
    read: 'Only read: see connections, profiles and browsers',
    all: 'Read and act: create connections, start logins, and open and use logged-in browsers',
  },
  everywhere: 'All projects in the organization',
  project: 'Only project {project}',
  limits: 'It never sees a password and cannot manage keys or members. You can revoke this in the console at any time.',
  allow: 'Allow',
  deny: 'Deny',
  signInTitle: 'Sign in',
  signIn: 'Sign in first',
  signInText: 'A program asks to act for you. {link}, then continue here.',
  signInLink: 'Sign in to the console',
  signedIn: 'I have signed in',
  failed: 'Something went wrong',
  wrongRequest: 'The program sent a request that Holdfast cannot answer. It was given no access.',
  forMakers: 'For the program’s developers:',
  startAgain: 'Go back to the program and start again.',
  refusals: {
    consent_expired: 'This request has expired or was already answered.',
    consent_unknown_program: 'This program is no longer registered; have it register again.',
    consent_foreign_page: 'The answer came from another page, so it does not count.',
    consent_no_project: 'The selected project no longer exists.',
    fault: 'Holdfast could not complete the request. If this keeps happening, tell whoever operates it.',
  },
};

const DE: typeof EN = {
  title: 'Ein Programm für dich handeln lassen',
  question: 'Soll {client} für dich handeln?',
  asks: '<strong>{client}</strong> möchte Holdfast als {person} benutzen, in der Organisation <strong>{organization}</strong>.',
  named:
    'Den Namen hat es sich selbst gegeben; du wirst zu {address} zurückgeschickt. Mach nur weiter, wenn du das gerade selbst begonnen hast.',
  what: 'Was es darf',
  where: 'Wo',
  rights: {
    read: 'Nur lesen: Verbindungen, Profile und Browser sehen',
    all: 'Lesen und handeln: Verbindungen anlegen, Anmeldungen starten, angemeldete Browser öffnen und benutzen',
  },
  everywhere: 'Alle Projekte der Organisation',
  project: 'Nur das Projekt {project}',
  limits:
    'Es sieht nie ein Passwort und kann weder Schlüssel noch Mitglieder verwalten. Du kannst das jederzeit in der Konsole beenden.',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  signInTitle: 'Anmelden',
  signIn: 'Melde dich zuerst an',
  signInText: 'Ein Programm möchte für dich handeln. {link}, und mach dann hier weiter.',
  signInLink: 'Melde dich bei der Konsole an',
  signedIn: 'Ich habe mich angemeldet',
  failed: 'Das hat nicht geklappt',
  wrongRequest: 'Das Programm hat auf eine Weise gefragt, die Holdfast nicht beantworten kann. Nichts wurde erlaubt.',
  forMakers: 'Für die Leute, die das Programm machen:',
  startAgain: 'Geh zurück zum Programm, und beginne noch einmal.',
  refusals: {
    consent_expired: 'Diese Anfrage ist abgelaufen oder wurde schon beantwortet.',
    consent_unknown_program: 'Dieses Programm ist nicht mehr bekannt; es muss sich neu registrieren.',
    consent_foreign_page: 'Die Antwort kam von einer anderen Seite als dieser hier; sie zählt deshalb nicht.',
    consent_no_project: 'Das gewählte Projekt gibt es nicht mehr.',
    fault: 'Holdfast konnte nicht tun, was verlangt war. Bleibt es dabei, sag es den Leuten, die es betreiben.',
  },
};

/** The texts in each language. */
export const CONSENT_WORDS: Readonly<Record<Language, typeof EN>> = { en: EN, de: DE };

/** Why consent could not be requested or given; sent as `inner_error.code`. */
export type ConsentRefusal = Exclude<keyof typeof EN.refusals, 'fault'>;
