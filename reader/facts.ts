/**
 * What the script inside a frame reports: plain facts about what a visitor can see, in the order of the page, without any
 * judgement. The rules beside this file judge. No fact ever holds a value that somebody typed.
 */
export interface FrameFacts {
  readonly url: string;
  readonly title: string;
  readonly language: string;
  /** HTTP status of the document; 0 when the browser does not tell. */
  readonly status: number;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly controls: readonly ControlFacts[];
  readonly clickables: readonly ClickableFacts[];
  readonly texts: readonly TextFacts[];
  readonly forms: readonly FormFacts[];
  readonly checkboxes: readonly CheckboxFacts[];
  /** Visible frames inside this one. */
  readonly frames: readonly ChildFrameFacts[];
  /** True when something says that it is still loading (a spinner, aria-busy). */
  readonly busy: boolean;
  /** True for a complete document without any script: it stays as it is. */
  readonly still: boolean;
}

/** Place of an element on the page, in CSS pixels from the document's top left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface ElementFacts {
  /** Position in document order, comparable between controls, clickables and texts of one frame. */
  readonly order: number;
  readonly box: Box;
  /** Index into `forms`; -1 outside of every form. */
  readonly form: number;
  readonly region: Region;
}

/**
 * Part of the page: consent banners and page furniture say little about the login. `popup` is what only its name tells from
 * the rest of the page: a menu, a drawer or a dialog that may not have been opened.
 */
export type Region = 'main' | 'nav' | 'header' | 'footer' | 'aside' | 'dialog' | 'popup' | 'consent';

/** A text field of any kind, or a select. */
export interface ControlFacts extends ElementFacts {
  readonly tag: 'input' | 'textarea' | 'select' | 'editable';
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly classes: string;
  readonly autocomplete: string;
  readonly inputMode: string;
  readonly maxLength: number;
  readonly pattern: string;
  readonly placeholder: string;
  readonly ariaLabel: string;
  /** Text of label elements and of `aria-labelledby`. */
  readonly label: string;
  /** Text right before the control (or right after, when nothing stands before). */
  readonly nearText: string;
  readonly title: string;
  /** Text of `aria-describedby`. */
  readonly description: string;
  /** Other attributes that tell what is meant: test ids, `formcontrolname`, `ng-model`, `data-*` names. */
  readonly extra: string;
  readonly required: boolean;
  readonly disabled: boolean;
  readonly readOnly: boolean;
  /** Readonly only until it is entered: against browsers that fill in too much. */
  readonly opensOnFocus: boolean;
  /** Something else lies over its middle: an opened dialog, for example. */
  readonly covered: boolean;
  /** A picture that is called a captcha or the like stands right beside it. */
  readonly besidePicture: boolean;
  readonly invalid: boolean;
  readonly filled: boolean;
  /** Labels of what a list offers to choose; empty for every other control. */
  readonly options: readonly string[];
  readonly focused: boolean;
  readonly visible: boolean;
  /** Fully transparent, although it has a place and a size. */
  readonly transparent: boolean;
  readonly ariaHidden: 'no' | 'self' | 'ancestor';
  readonly tabIndex: number;
  readonly selector: string;
}

/** A link, a button, a radio button or anything else that is there to be pressed. */
export interface ClickableFacts extends ElementFacts {
  readonly tag: string;
  readonly type: string;
  readonly role: string;
  /** What it says: its text, else its value, label, picture text or title. */
  readonly text: string;
  /** First line of its text, apart from further lines. */
  readonly lines: readonly string[];
  readonly ariaLabel: string;
  readonly title: string;
  readonly imageText: string;
  readonly href: string;
  readonly id: string;
  readonly name: string;
  readonly classes: string;
  /** `data-*` attributes, names and values. */
  readonly extra: string;
  readonly disabled: boolean;
  readonly visible: boolean;
  readonly checked: boolean;
  readonly inText: boolean;
  readonly selector: string;
  readonly xpath: string;
}

/** A block of visible text. */
export interface TextFacts extends ElementFacts {
  readonly text: string;
  /** The same without the words of links in it: what the page says, not where it leads. */
  readonly plain: string;
  readonly tag: string;
  readonly heading: boolean;
  /** Inside a link, a button or a label. */
  readonly within: 'none' | 'link' | 'button' | 'label';
  /** role, aria-live, id and class names of it and of the few elements around it. */
  readonly marks: string;
  /** Its colour is a red one. */
  readonly red: boolean;
  /** Referred to by a control that is marked invalid. */
  readonly describesInvalid: boolean;
  /** Referred to by any control as its description. */
  readonly describes: boolean;
}

/** A form as its author calls it. */
export interface FormFacts {
  readonly id: string;
  readonly name: string;
  readonly classes: string;
  readonly action: string;
  readonly label: string;
}

/** A box to tick. */
export interface CheckboxFacts {
  readonly order: number;
  /** Index into `forms`; -1 outside of every form. */
  readonly form: number;
  readonly region: Region;
  readonly text: string;
  /** All that its label says, with the words of links in it. */
  readonly said: string;
  readonly named: string;
  readonly visible: boolean;
  readonly disabled: boolean;
  readonly checked: boolean;
  /** A form that it belongs to is not sent without it. */
  readonly required: boolean;
  readonly selector: string;
}

/** A visible frame element. */
export interface ChildFrameFacts {
  readonly selector: string;
  readonly src: string;
  readonly title: string;
  readonly name: string;
  readonly box: Box;
}

/** The facts of one frame and the way to it: CSS selectors of frame elements, outermost first. */
export interface FrameSnapshot {
  readonly path: readonly string[];
  readonly facts: FrameFacts;
  /** On the page itself: what its QR codes say, where they were read. A secret, as a text of the page may be. */
  readonly qrCodes?: readonly string[];
}
