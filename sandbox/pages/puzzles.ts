import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html } from '../markup.ts';
import { show } from '../visit.ts';

/** How long the button must be held, in milliseconds. */
const HOLD_MS = 1_200;

/** Puzzles in front of the login form that a person solves on the page. */
export function puzzles(app: FastifyInstance): void {
  app.get('/login/press-and-hold', (_request, reply) =>
    show(
      reply,
      document(
        'One moment',
        `${BASE_STYLES} #hold { touch-action: none; width: 100%; padding: 1rem; } #hold.held { background: #2c7be5; color: #fff; }`,
        html`<main>
            <h1>Verify you are human</h1>
            <p>Press &amp; hold the button until it lets you go on.</p>
            <div id="hold" role="button" tabindex="0">Press &amp; hold</div>
            <p><a href="http://127.0.0.2:9/elsewhere">About this check</a></p>
          </main>
          <script>
            const button = document.getElementById('hold');
            let timer;
            const letGo = () => {
              button.classList.remove('held');
              clearTimeout(timer);
            };
            button.addEventListener('pointerdown', (event) => {
              if (!event.isTrusted) return;
              button.classList.add('held');
              timer = setTimeout(() => location.assign('/login'), ${HOLD_MS});
            });
            button.addEventListener('pointerup', letGo);
            button.addEventListener('pointerleave', letGo);
          </script>`,
      ),
    ),
  );

  app.get('/login/drag-puzzle', (_request, reply) =>
    show(
      reply,
      document(
        'One moment',
        `${BASE_STYLES}
#track { position: relative; height: 48px; background: #e6ebf0; border-radius: 8px; touch-action: none; user-select: none; }
#piece { position: absolute; left: 0; top: 0; width: 48px; height: 48px; background: #2c7be5; border-radius: 8px; }
#place { position: absolute; left: 200px; top: 0; width: 48px; height: 48px; outline: 2px dashed #2c7be5; border-radius: 8px; }`,
        html`<main>
            <h1>Verify you are human</h1>
            <p>Drag the piece to its place.</p>
            <div id="track">
              <div id="place"></div>
              <div id="piece"></div>
            </div>
          </main>
          <script>
            const piece = document.getElementById('piece');
            let from = null;
            let moves = 0;
            piece.addEventListener('pointerdown', (event) => {
              if (!event.isTrusted) return;
              from = event.clientX;
              moves = 0;
              piece.setPointerCapture(event.pointerId);
            });
            piece.addEventListener('pointermove', (event) => {
              if (from === null) return;
              moves += 1;
              piece.style.left = event.clientX - from + 'px';
            });
            piece.addEventListener('pointerup', () => {
              const isInPlace = Math.abs(parseFloat(piece.style.left) - 200) <= 6;
              if (from !== null && moves >= 5 && isInPlace) location.assign('/login');
              from = null;
              piece.style.left = '0';
            });
          </script>`,
      ),
    ),
  );

  app.get('/login/questions', (_request, reply) =>
    show(
      reply,
      document(
        'One moment',
        `${BASE_STYLES} label { display: block; margin-top: 1rem; }`,
        html`<main>
            <h1>Verify you are human</h1>
            <label
              >Which one is a fruit?
              <select id="fruit">
                <option>Please choose</option>
                <option>Stone</option>
                <option>Apple</option>
                <option value="http://127.0.0.2:9/elsewhere">More about fruit</option>
              </select></label
            >
            <label>Christmas Eve of 2026 <input id="eve" type="date" /></label>
            <label>The German word for "big" <input id="word" name="word" type="text" /></label>
            <p><button type="button" id="done">I am human</button></p>
          </main>
          <script>
            const [fruit, eve, word] = ['fruit', 'eve', 'word'].map((id) => document.getElementById(id));
            fruit.addEventListener('change', () => {
              if (/^http/.test(fruit.value)) location.assign(fruit.value);
            });
            document.getElementById('done').addEventListener('click', () => {
              const isRight = fruit.value === 'Apple' && eve.value === '2026-12-24' && word.value === 'groß';
              if (isRight) location.assign('/login');
            });
          </script>`,
      ),
    ),
  );
}
