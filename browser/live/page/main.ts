import { connect } from './connection.ts';
import { createFrameCanvas } from './frame-canvas.ts';
import { captureKeyboard } from './keyboard.ts';
import { capturePointer } from './pointer.ts';
import { buildViewerUi } from './viewer-ui.ts';

// The live view: shows the browser's frames and sends it the viewer's mouse, touch and keyboard input.
const address = new URL(location.href);
// Keep the token in memory only, out of the address bar and the history.
const withoutToken = new URL(address);
withoutToken.searchParams.delete('jwt');
history.replaceState(null, '', withoutToken);

const ui = buildViewerUi(document.body);
const frameCanvas = createFrameCanvas(ui.canvas);
const connection = connect(address, {
  onFrame: (data) => {
    void frameCanvas.draw(data);
    ui.showCanvas();
  },
  onMessage: (message) => {
    if (message.type === 'page') frameCanvas.setPageSize(message.width, message.height);
    ui.show(message);
  },
  onState: (state) => ui.setState(state),
});
ui.onAnswer((accept, text) => {
  connection.send({ type: 'dialog', accept, ...(text === undefined ? {} : { text }) });
  ui.keyboard.focus();
});
capturePointer(ui, frameCanvas, connection.send);
captureKeyboard(ui.keyboard, connection.send);
