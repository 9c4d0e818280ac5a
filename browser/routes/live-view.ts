import { randomBytes } from 'node:crypto';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import type { PageBundle } from '../../http/bundle-page.ts';
import type { Router } from '../http/router.ts';
import bundleLivePage from '../live/page-parts.prebuilt.ts';

/**
 * `GET /browsers/{id}/live?jwt=…`: the page that shows a session to a person, authorized by its token alone. The page removes the
 * token from the address bar and connects to the same URL as a WebSocket. Its policy only permits its own script, style and
 * origin, and no framing.
 */
export function liveViewRoute({ route }: Router, deps: BrowserDeps): void {
  route(BROWSER_ROUTES.viewBrowser, async ({ params: { id }, query, reply }) => {
    if (!(await deps.tokens.verify(query.jwt ?? '', id, 'live'))) {
      throw new HoldfastError('unauthorized', 'This link is invalid or has expired; get the session for a new one');
    }
    if (deps.registry.byId(id) === undefined) throw new HoldfastError('not_found', 'The browser session has ended');
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policyFor(nonce),
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
        'x-robots-tag': 'noindex, nofollow',
      })
      .send(document(await bundleLivePage(), nonce));
  });
}

function policyFor(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function document(parts: PageBundle, nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Live view · Holdfast</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="dark">
<meta name="robots" content="noindex, nofollow">
<style nonce="${nonce}">${parts.style}</style>
</head>
<body>
<noscript><p>The live view needs JavaScript. Turn it on for this page and open the link again.</p></noscript>
<script nonce="${nonce}">${parts.script}</script>
</body>
</html>
`;
}
