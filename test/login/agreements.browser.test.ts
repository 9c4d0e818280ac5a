import { afterAll, expect } from 'vitest';
import { readAfterEntering } from '../../activities/login/reading/read-after-entering.ts';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import { startLoginOnSite, type LoginOnSite } from './login-on-site.ts';

/** Boxes as pages have them: a plain one, one that only its label shows, one that a script draws. Whose link is met leaves. */
const TERMS = `<h1>Our terms of use</h1>
  <style>.drawn input { display: none } .drawn span::before { content: '☐ ' } .drawn input:checked + span::before { content: '☑ ' }</style>
  <form action="/taken" method="post"><input name="plain" id="plain" type="checkbox" required><label for="plain">I agree to the
    <a href="/away">terms of use</a></label><br>
  <label class="drawn"><input type="checkbox" name="drawn"><span>I agree to the <a href="/away">privacy policy</a></span></label><br>
  <div role="checkbox" aria-checked="false" aria-required="true" tabindex="0" style="width: 200px"
    onclick="this.setAttribute('aria-checked', this.ariaChecked !== 'true'); this.nextElementSibling.value = this.ariaChecked">I am of age</div>
  <input type="hidden" name="age" value="false">
  <label><input type="checkbox" name="news"> Send me news about terms of sales, offers and products</label>
  <button>Accept and continue</button></form>
  <form action="/away"><button>Decline</button></form>`;

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  on = await startLoginOnSite(service, stores().store, { '/terms': TERMS, '/away': '<h1>Elsewhere</h1>' });
});
afterAll(() => on.close());

it('checks the boxes that an agreement requires, native or scripted, and no others', async () => {
  await on.open('/terms');
  const reading = await readAfterEntering(
    on.deps,
    { projectId: 'p', browser: null, domain: `localhost:${on.site.port}` },
    on.sessionId,
    'login',
    null,
    new AbortController().signal,
  );
  const agree = reading.choices.find(({ label }) => label === 'Accept and continue');
  expect(agree?.ticks).toHaveLength(3);
  const outcome = await on.enter(reading, {}, agree);
  expect(on.posted).toEqual([`localhost:${on.site.port} plain=on&drawn=on&age=true`]);
  expect(typeof outcome === 'string' ? outcome : outcome.reading.kind).toBe('logged_in');
});
