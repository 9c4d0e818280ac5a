import type { Page } from 'playwright-core';

/** A person's account at an application. */
export interface Account {
  identifier: string;
  password: string;
  /** Base32; absent if the account has no second factor. */
  totpSecret?: string;
}

/** An application that is running. */
export interface RunningApplication {
  /** If absent, Holdfast finds the login page from the home page. */
  loginUrl?: string;
  account: Account;
  /** Label of the choice to make if the application offers several ways to log in. */
  choice?: RegExp;
  /** The one-time code that was sent last, if the application sends any. */
  sentCode?(): Promise<string>;
  /** It rejects no password, so a wrong one cannot be tried. */
  takesAnyPassword?: boolean;
  /** The `can_reauth_reason` of an application that cannot be logged in to again without a person. */
  needsPerson?: string;
  /** Ends every session on the server, as an administrator would; the cookies in a profile become useless. */
  endSessions(): Promise<void>;
  /** The same login as a Playwright script by somebody who knows the page. Resolves once the application shows. */
  byHand(page: Page): Promise<void>;
  stop(): Promise<void>;
}

/** An application from a public registry. */
export interface Application {
  name: string;
  /** Framework and component library of its pages. */
  builtWith: string;
  /** Name of the folder that it is installed in; applications with the same name share it. */
  installedAs: string;
  /** Installs what is missing into `folder`, which is kept between runs. */
  install(folder: string): Promise<void>;
  /** Starts it with fresh state. Resolves once its first page is served. */
  start(place: Place): Promise<RunningApplication>;
}

/** Where an application is installed, keeps its state and listens. */
export interface Place {
  folder: string;
  /** An empty folder. */
  data: string;
  /** The first of six free ports. */
  port: number;
  /** http://localhost:<port> */
  url: string;
}
