import { isListedHost, type EgressPolicy } from '../../egress/policy.ts';

/** Where sites usually keep their login page, most common first. */
const COMMON_PATHS = [
  '/login',
  '/signin',
  '/sign-in',
  '/sign_in',
  '/users/sign_in',
  '/account/login',
  '/accounts/login/',
  '/user/login',
  '/auth/login',
  '/admin/login/',
  '/wp-login.php',
];

/** The site's home page: https, or http when the host is a private one that the operator listed. */
export function homeUrl(domain: string, egress: EgressPolicy): string {
  const plain = new URL(`http://${domain}/`);
  const port = plain.port === '' ? 80 : Number(plain.port);
  return isListedHost(egress, plain.hostname, port) ? plain.href : `https://${domain}/`;
}

/** Addresses to try when the home page leads nowhere. */
export function commonLoginUrls(home: string): string[] {
  return COMMON_PATHS.map((path) => new URL(path, home).href);
}
