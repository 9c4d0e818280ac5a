import type { ClickableFacts, ControlFacts, FrameSnapshot, TextFacts } from '../../reader/facts.ts';

/** A form as tests draw it: the names of its fields, those of type password after a star, and what its button says. */
export interface DrawnForm {
  readonly heading?: string;
  readonly fields: readonly string[];
  readonly button: string;
  /** Fields that the site has filled in. */
  readonly filled?: readonly string[];
  readonly region?: ControlFacts['region'];
}

/** The facts of a page that holds these forms, one under the other. */
export function drawPage(forms: readonly DrawnForm[], title = 'Harbour'): FrameSnapshot[] {
  const controls: ControlFacts[] = [];
  const clickables: ClickableFacts[] = [];
  const texts: TextFacts[] = [];
  let order = 0;
  const next = (form: number) => ({ order: (order += 1), box: { x: 0, y: order * 40, width: 200, height: 30 }, form });
  for (const [at, { heading, fields, button, filled = [], region = 'main' }] of forms.entries()) {
    if (heading !== undefined) texts.push(textOf(heading, { ...next(-1), region }));
    for (const field of fields) {
      const name = field.replace('*', '');
      controls.push({
        ...CONTROL,
        ...next(at),
        region,
        name,
        type: name === field ? 'text' : 'password',
        label: name,
        filled: filled.includes(name),
        selector: `#${name}`,
      });
    }
    clickables.push({ ...CLICKABLE, ...next(at), region, text: button, selector: `#go-${at}` });
  }
  const nothing = { checkboxes: [], frames: [], busy: false, still: true };
  const forms_ = forms.map(() => ({ id: '', name: '', classes: '', action: '/session', label: '' }));
  const facts = {
    url: 'https://harbour.test/',
    title,
    language: 'en',
    status: 200,
    viewport: { width: 1280, height: 800 },
  };
  return [{ path: [], facts: { ...facts, ...nothing, controls, clickables, texts, forms: forms_ } }];
}

function textOf(text: string, place: Pick<TextFacts, 'order' | 'box' | 'form' | 'region'>): TextFacts {
  const says = { tag: 'h2', heading: true, within: 'none' as const, marks: '', red: false };
  return { ...place, text, plain: text, ...says, describesInvalid: false, describes: false };
}

const CONTROL: Omit<ControlFacts, 'order' | 'box' | 'form' | 'region' | 'selector'> = {
  tag: 'input',
  type: 'text',
  name: '',
  id: '',
  classes: '',
  autocomplete: '',
  inputMode: '',
  maxLength: -1,
  pattern: '',
  placeholder: '',
  ariaLabel: '',
  label: '',
  nearText: '',
  title: '',
  description: '',
  extra: '',
  required: true,
  disabled: false,
  readOnly: false,
  opensOnFocus: false,
  covered: false,
  besidePicture: false,
  picture: null,
  invalid: false,
  filled: false,
  options: [],
  focused: false,
  visible: true,
  transparent: false,
  ariaHidden: 'no',
  tabIndex: 0,
};

const CLICKABLE: Omit<ClickableFacts, 'order' | 'box' | 'form' | 'region' | 'selector' | 'text'> = {
  tag: 'button',
  type: 'submit',
  role: '',
  lines: [],
  ariaLabel: '',
  title: '',
  imageText: '',
  href: '',
  id: '',
  name: '',
  classes: '',
  extra: '',
  disabled: false,
  visible: true,
  checked: false,
  inText: false,
  xpath: '',
};
