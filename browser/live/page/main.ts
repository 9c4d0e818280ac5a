import { connect } from './connection.ts';
import { buildFrame } from './frame.ts';
import { captureKeyboard } from './keyboard.ts';
import { capturePointer } from './pointer.ts';
import { createPicture } from './picture.ts';

/** The live view: the picture of a browser, and the viewer's mouse, touch and keyboard for it. */
function start(): void {
  const here = new URL(location.href);
  const address = new URL(location.href);
  // The token stays in memory: the address bar, the history and whoever reads them do without it.
  here.searchParams.delete('jwt');
  history.replaceState(null, '', here);

  const frame = buildFrame(document.body);
  const picture = createPicture(frame.canvas);
  const connection = connect(address, {
    onPicture: (data) => {
      void picture.draw(data);
      frame.showPicture();
    },
    onMessage: (message) => {
      if (message.type === 'page') picture.size(message.width, message.height);
      frame.show(message);
    },
    onState: (state) => {
      frame.setState(state);
    },
  });
  frame.onAnswer((accept, text) => {
    connection.send({ type: 'dialog', accept, ...(text === undefined ? {} : { text }) });
    frame.keyboard.focus();
  });
  capturePointer(frame, picture, connection.send);
  captureKeyboard(frame.keyboard, connection.send);
}

start();
