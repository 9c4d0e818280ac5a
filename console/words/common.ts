import { inLanguage } from './language.ts';

/** Labels that many pages share. */
export const commonWords = inLanguage({
  en: {
    actions: 'Actions',
    cancel: 'Cancel',
    created: 'Created',
    id: 'ID',
    lastUsed: 'Last used',
    name: 'Name',
    password: 'Password',
    pause: 'Pause',
    remove: 'Delete',
    rename: 'Rename',
    resume: 'Resume',
    state: 'State',
    type: 'Type',
    when: 'When',
  },
  de: {
    actions: 'Aktionen',
    cancel: 'Abbrechen',
    created: 'Erstellt',
    id: 'Id',
    lastUsed: 'Zuletzt benutzt',
    name: 'Name',
    password: 'Passwort',
    pause: 'Anhalten',
    remove: 'Löschen',
    rename: 'Umbenennen',
    resume: 'Fortsetzen',
    state: 'Zustand',
    type: 'Art',
    when: 'Wann',
  },
});
