import type { Page } from 'playwright-core';

/** What a person knows of their account at an application. */
export interface Account {
  identifier: string;
  password: string;
  /** Base32; absent where the account has no second factor. */
  totpSecret?: string;
}

/** An application that runs. */
export interface RunningApplication {
  /** Host and port, as a connection's domain. */
  domain: string;
  /** Absent: Holdfast finds the login page from the home page. */
  loginUrl?: string;
  account: Account;
  /** Label of the choice that a person takes, where there is more than one way in. */
  choice?: RegExp;
  /** The one-time code that was sent last, where the application sends any. */
  sentCode?(): Promise<string>;
  /** It refuses no password: there is no wrong one to be given. */
  takesAnyPassword?: boolean;
  /** The `can_reauth_reason` of an application that nobody can log in to again without a person. */
  needsPerson?: string;
  /** Ends every session at the server, as an administrator would: the cookies in a profile are worth nothing then. */
  endSessions(): Promise<void>;
  /** The same login written in Playwright by somebody who knows the page. Resolves when it shows the inside. */
  byHand(page: Page): Promise<void>;
  stop(): Promise<void>;
}

/** An application from a public registry. */
export interface Application {
  name: string;
  /** Framework and component library: what its pages are made of. */
  madeOf: string;
  /** Name of the folder that it is installed in; applications of one name share it. */
  installedAs: string;
  /** Installs what is missing into `folder`, which stays between runs. */
  install(folder: string): Promise<void>;
  /** Starts it on `port` with a fresh state in `data`. Resolves when its first page can be had. */
  start(place: Place): Promise<RunningApplication>;
}

/** Where an application is installed, where its state goes, and the first of ten free ports. */
export interface Place {
  folder: string;
  data: string;
  port: number;
}
