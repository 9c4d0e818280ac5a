/** A user of the practice site. All of it is public. */
export interface SandboxUser {
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
  /** Base32 secret of the authenticator app. */
  readonly totpSecret: string;
  /** Last two digits of the phone number. */
  readonly phoneEnding: string;
  /** The login page that this user demonstrates; all users can use all pages. */
  readonly loginPath: string;
}

/** The documented test users. `POST /test/users/{user}/password` changes their passwords. */
export const SANDBOX_USERS: readonly SandboxUser[] = [
  user('alice', 'Alice Archer', 'correct-horse-alice-1', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAB', '10', '/login'),
  user('bob', 'Bob Baker', 'correct-horse-bob-2', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAC', '11', '/login/two-step'),
  user('carol', 'Carol Cooper', 'correct-horse-carol-3', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAD', '12', '/login/totp'),
  user('dave', 'Dave Dyer', 'correct-horse-dave-4', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAE', '13', '/login/sms'),
  user('erin', 'Erin Ellis', 'correct-horse-erin-5', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAF', '14', '/login/late'),
  user('frank', 'Frank Fisher', 'correct-horse-frank-6', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAG', '15', '/login/mfa-choice'),
  user('grace', 'Grace Glover', 'correct-horse-grace-7', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAH', '16', '/login/sso'),
  user('heidi', 'Heidi Hunter', 'correct-horse-heidi-8', 'JBSWY3DPEHPK3PXPAAAAAAAAAAAAAAAI', '17', '/login/push'),
];

/** The customer number of a user at the practice bank. */
export function customerNumberOf(user: SandboxUser): string {
  return `4711${user.phoneEnding}`;
}

/** Finds a user by user name or e-mail address, ignoring case and surrounding spaces. */
export function findUser(identifier: string): SandboxUser | undefined {
  const wanted = identifier.trim().toLowerCase();
  return SANDBOX_USERS.find((each) => each.username === wanted || each.email === wanted);
}

function user(
  username: string,
  name: string,
  password: string,
  totpSecret: string,
  phoneEnding: string,
  loginPath: string,
): SandboxUser {
  return { username, email: `${username}@sandbox.test`, name, password, totpSecret, phoneEnding, loginPath };
}
