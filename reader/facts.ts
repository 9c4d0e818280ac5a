/**
 * What the script inside a frame reports: facts about what a visitor can see, in document order, without interpretation.
 * No fact contains a typed value.
 */
export interface FrameFacts {
  readonly url: string;
  readonly title: string;
  readonly language: string;
  /** HTTP status of the document; 0 if unknown. */
  readonly status: number;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly controls: readonly ControlFacts[];
  readonly clickables: readonly ClickableFacts[];
  readonly texts: readonly TextFacts[];
  readonly forms: readonly FormFacts[];
  readonly checkboxes: readonly CheckboxFacts[];
  /** Visible frames inside this one. */
  readonly frames: readonly ChildFrameFacts[];
  /** True if a loading indicator is visible (a spinner, aria-busy). */
  readonly busy: boolean;
  /** True for a complete document without scripts, which does not change anymore. */
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
  /** Position in document order, comparable among the controls, clickables and texts of a frame. */
  readonly order: number;
  readonly box: Box;
  /** Index into `forms`; -1 outside of every form. */
  readonly form: number;
  readonly region: Region;
}

/** Part of the page. `popup` is a menu, drawer or dialog that is recognized only by its name and may not be open. */
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
  /** Text right before the control, or right after it if there is none before. */
  readonly nearText: string;
  readonly title: string;
  /** Text of `aria-describedby`. */
  readonly description: string;
  /** Other meaningful attributes: test ids, `formcontrolname`, `ng-model`, `data-*`. */
  readonly extra: string;
  readonly required: boolean;
  readonly disabled: boolean;
  readonly readOnly: boolean;
  /** Read-only until it gets focus, to prevent autofill. */
  readonly opensOnFocus: boolean;
  /** Another element (an open dialog, for example) covers its center. */
  readonly covered: boolean;
  /** An image with a captcha-like name is next to it. */
  readonly besidePicture: boolean;
  /** Selector of the image whose characters it asks for, if it is a captcha field; null if there is none near it. */
  readonly picture: string | null;
  readonly invalid: boolean;
  readonly filled: boolean;
  /** Labels of a list's options; empty for other controls. */
  readonly options: readonly string[];
  readonly focused: boolean;
  readonly visible: boolean;
  /** Fully transparent, although it has a position and a size. */
  readonly transparent: boolean;
  readonly ariaHidden: 'no' | 'self' | 'ancestor';
  readonly tabIndex: number;
  readonly selector: string;
}

/** A link, a button, a radio button or any other clickable element. */
export interface ClickableFacts extends ElementFacts {
  readonly tag: string;
  readonly type: string;
  readonly role: string;
  /** Its text, else its value, label, image text or title. */
  readonly text: string;
  /** The lines of its text. */
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
  /** The text without that of links in it. */
  readonly plain: string;
  readonly tag: string;
  readonly heading: boolean;
  /** Inside a link, a button or a label. */
  readonly within: 'none' | 'link' | 'button' | 'label';
  /** role, aria-live, id and class names of the element and a few ancestors. */
  readonly marks: string;
  /** Displayed in red. */
  readonly red: boolean;
  /** Referred to by a control that is marked invalid. */
  readonly describesInvalid: boolean;
  /** Referred to by any control as its description. */
  readonly describes: boolean;
}

/** Attributes of a form. */
export interface FormFacts {
  readonly id: string;
  readonly name: string;
  readonly classes: string;
  readonly action: string;
  readonly label: string;
}

/** A checkbox. */
export interface CheckboxFacts {
  readonly order: number;
  /** Index into `forms`; -1 outside of every form. */
  readonly form: number;
  readonly region: Region;
  readonly text: string;
  /** The full text of its label, including links. */
  readonly said: string;
  readonly named: string;
  readonly visible: boolean;
  readonly disabled: boolean;
  readonly checked: boolean;
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

/** The facts of one frame, and its path: CSS selectors of the frame elements, outermost first. */
export interface FrameSnapshot {
  readonly path: readonly string[];
  readonly facts: FrameFacts;
  /** Contents of the page's QR codes, set on the main frame if they were read. May contain secrets. */
  readonly qrCodes?: readonly string[];
}
