import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { posted, show } from '../visit.ts';
import { captchaBeside } from './captcha-beside.ts';

const PAGE = '/login/captcha-widget';

/** Two kinds of widgets: one calls back its page, the other leaves it to the form's button. */
const WIDGETS = {
  [PAGE]: {
    names: 'cf-turnstile',
    key: '0x4AAAAAAASandboxPractice',
    field: 'cf-turnstile-response',
    callback: 'proven',
  },
  [`${PAGE}/form`]: {
    names: 'g-recaptcha',
    key: '6LSandboxPracticeSiteKey0000000000000000',
    field: 'g-recaptcha-response',
    callback: '',
  },
} as const;

/** Answers of the practice solver that is not asked for one that behaves, by the key that it is called with. */
type Behaviour = 'right' | 'wrong' | 'slow' | 'refused' | 'nonsense';
const BEHAVIOURS: readonly Behaviour[] = ['wrong', 'slow', 'refused', 'nonsense'];

interface Task {
  behaviour: Behaviour;
  siteKey: string;
  looks: number;
}

/**
 * Widgets that look as those of captcha vendors do to who reads the page, and whose answers the site checks; and a solver that speaks
 * `createTask` and `getTaskResult`, at `/captcha-solver`. An answer is good once, for the key that it was made for.
 */
export function captchaWidgets(app: FastifyInstance, state: SiteState): void {
  const answers = new Map<string, string>();
  const tasks: Task[] = [];
  const asked: unknown[] = [];
  const issue = (siteKey: string): string => {
    const answer = `answer-${randomBytes(18).toString('base64url')}`;
    answers.set(answer, siteKey);
    return answer;
  };

  const redeem = (answer: string, siteKey: string): boolean => {
    const isRight = answers.get(answer) === siteKey;
    answers.delete(answer);
    return isRight;
  };

  for (const [path, widget] of Object.entries(WIDGETS)) {
    app.get(path, (_request, reply) => show(reply, page(path, widget, '')));
    app.post(path, (request, reply) => {
      return redeem(posted(request, widget.field), widget.key)
        ? reply.redirect('/login', 303)
        : show(reply, page(path, widget, 'That did not work. Try again.'));
    });
  }
  captchaBeside(app, state, `${PAGE}/tick`, redeem);
  app.post(`${PAGE}/tick`, (request) => ({ answer: issue(posted(request, 'key')) }));

  app.post('/captcha-solver/createTask', (request, reply) => {
    const task = memberOf(request.body, 'task');
    const behaviour = BEHAVIOURS.find((each) => each === posted(request, 'clientKey')) ?? 'right';
    asked.push(task);
    if (behaviour === 'nonsense') return reply.type('text/html').send('<!doctype html><h1>Welcome</h1>');
    if (behaviour === 'refused')
      return { errorId: 1, errorCode: 'ERROR_ZERO_BALANCE', errorDescription: 'Account has no funds' };
    return { errorId: 0, taskId: tasks.push({ behaviour, siteKey: String(memberOf(task, 'websiteKey')), looks: 0 }) };
  });

  app.post('/captcha-solver/getTaskResult', (request) => {
    const task = tasks[Number(memberOf(request.body, 'taskId')) - 1];
    if (task === undefined)
      return { errorId: 16, errorCode: 'ERROR_NO_SUCH_CAPCHA_ID', errorDescription: 'No such task' };
    task.looks += 1;
    if (task.behaviour === 'slow' || task.looks === 1) return { errorId: 0, status: 'processing' };
    const answer = task.behaviour === 'wrong' ? 'not-an-answer' : issue(task.siteKey);
    const solution = task.siteKey.startsWith('6L') ? { gRecaptchaResponse: answer } : { token: answer };
    return { errorId: 0, status: 'ready', solution };
  });

  app.get('/captcha-solver/asked', () => ({ tasks: asked }));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function page(
  path: string,
  { names, key, field, callback }: (typeof WIDGETS)[keyof typeof WIDGETS],
  error: string,
): string {
  return document(
    'One moment',
    BASE_STYLES,
    html`<main>
        <h1>Verify you are human</h1>
        <p role="alert">${error}</p>
        <form method="post" action="${path}">
          <div class="${names}" data-sitekey="${key}" data-callback="${callback}">
            <label><input type="checkbox" id="tick" /> I am human</label>
            <input type="hidden" name="${field}" />
          </div>
          ${callback === '' ? html`<button>Continue</button>` : nothing}
        </form>
      </main>
      <script>
        const form = document.forms[0];
        const proven = () => form.submit();
        window.proven = proven;
        document.getElementById('tick').addEventListener('change', async (event) => {
          if (!event.isTrusted) return;
          const widget = document.querySelector('[data-sitekey]');
          const body = new URLSearchParams({ key: widget.dataset.sitekey });
          const said = await fetch('${PAGE}/tick', { method: 'POST', body });
          widget.querySelector('[type=hidden]').value = (await said.json()).answer;
          window[widget.dataset.callback]?.();
        });
      </script>`,
  );
}
