import type { ReadChoice } from '../../contract/reading.ts';
import type { CheckboxFacts, ClickableFacts, FrameSnapshot, Region } from '../facts.ts';
import { PASSKEY_OFFER } from '../signs/page-signs.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { bodyTexts, pageTopic } from '../text/page-text.ts';
import { SIGN_IN, TERMS } from '../text/words.ts';

/** Questions that keep the session if answered with yes. */
const STAY_SIGNED_IN = anyOf(
  'stay signed in, stay logged in, remain signed in, keep me signed in, keep me logged in, remember me on this, save this browser',
  'trust this device, trust this browser, trust this computer, remember this device, remember this browser, remember this computer',
  'angemeldet bleiben, diesem gerat vertrauen, diesem browser vertrauen, rester connecte, faire confiance a cet appareil',
  'mantener la sesion iniciada, confiar en este dispositivo, rimanere collegato, resta connesso, continuar conectado, aangemeld blijven',
  'не выходить из системы, доверять этому устройству, サインインの状態を維持, このデバイスを信頼, 保持登录, 信任此设备, 로그인 상태를 유지',
);
const YES = /^(yes|ja|oui|si|sim|tak|evet|да|はい|是|예|trust|remember|stay|keep|save|vertrauen|confiar|信任)(?![a-z])/;
/** Buttons that postpone the site's request. */
const LATER = anyOf(
  'not now, skip, skip for now, maybe later, remind me later, later, no thanks, no thank you, do this later, ask me later, i will do it later',
  'nicht jetzt, spater, jetzt nicht, uberspringen, vielleicht spater, plus tard, pas maintenant, ignorer, ahora no, omitir, mas tarde, quizas mas tarde',
  'non ora, salta, piu tardi, agora nao, pular, mais tarde, niet nu, overslaan, nie teraz, pomin, simdi degil, atla, не сейчас, пропустить, позже',
  '後で, スキップ, 今はしない, 以后再说, 跳过, 暂不, 나중에, 건너뛰기',
);
const TERMS_PAGE = anyOf(
  'terms of service, terms of use, terms and conditions, user agreement, license agreement, privacy policy, acceptable use, updated our terms, updated terms',
  'nutzungsbedingungen, datenschutzerklarung, conditions d utilisation, conditions generales, terminos y condiciones, condiciones de uso, termini di servizio, termos de uso',
  'пользовательское соглашение, условия использования, 利用規約, 服务条款, 用户协议, 이용약관',
);
const AGREE = anyOf(
  'accept, agree, i accept, i agree, accept and continue, agree and continue, akzeptieren, zustimmen, ich stimme zu, accepter, j accepte, aceptar, acepto, accetto, accetta, aceito, aceitar, akceptuje, принять, принимаю, 同意する, 同意, 동의',
);

/** Words of an OAuth consent page. */
const CONSENT = anyOf(
  'wants to access, would like to access, wants access to, is requesting access, requests access, requesting permission, grant access, authorize application, allow access, would like permission, do you want to allow, access to your account, grant these access privileges, confirm previously given authorization, requests the following permissions, permissions requested, will be able to access, wants permission to, would like to access, wants to share, share your information with',
  'mochte zugreifen, zugriff erlauben, zugriff gewahren, souhaite acceder, autoriser l acces, quiere acceder, solicita acceso, vuole accedere, deseja acessar, хочет получить доступ, アクセスを許可, 请求访问, 액세스를 요청',
);
const CONSENT_HEADING =
  /^(authori[sz]e|consent|consent required|authori[sz]ation( request)?|permissions?|einwilligung|autorisierung|autorisation|autorizacion|autorizzazione|autorizacao)$/;
const ALLOW =
  /^(allow|authori[sz]e|grant|approve|accept|agree|yes|continue|erlauben|zulassen|zustimmen|autoriser|accepter|permitir|autorizar|aceptar|consenti|permetti|разрешить|許可|允许|허용)(?![a-z])/;
const CONTINUE_BUTTON =
  /^(continue|next|proceed|ok|go on|weiter|fortfahren|continuer|suivant|continuar|siguiente|continua|avanti|doorgaan|volgende|dalej|devam|продолжить|далее|続ける|次へ|继续|下一步|계속|다음)$/;

/** Buttons that acknowledge a notice. */
const ACKNOWLEDGE = anyOf(
  "got it, i understand, understood, okay got it, ok got it, i have read this, i have read the, i've read this, i've read the, mark as read, dismiss, continue to*, go to dashboard, proceed to*",
  'verstanden, gelesen, zur kenntnis genommen, schliessen und weiter, weiter zu*, compris, j ai compris, entendido, he leido, ho capito, ho letto, entendi, li e entendi, begrepen, gelezen, rozumiem, anladim',
  'понятно, прочитано, 了解しました, 我知道了, 知道了, 확인했습니다',
);

/** Regions around the body of a page, whose controls are not what the page asks for. */
export const ASIDE_REGIONS: ReadonlySet<Region> = new Set<Region>(['consent', 'nav', 'footer', 'header']);

const MAX_POSTPONE_TEXT = 30;
/** A page with more buttons than this is no interstitial. */
const MAX_BUTTONS = 12;

/**
 * The choices of a page between a login and the site itself: stay signed in, set something up later, accept terms, grant an
 * application access, a single continue button. Choices of a consent page have its text as their description.
 * Only for the page after a submission: on other pages such words are part of the navigation.
 */
export function readInterstitial(frames: readonly FrameSnapshot[]): ReadChoice[] {
  const topic = pageTopic(frames);
  const boxes = TERMS_PAGE.test(topic) ? findAgreementBoxes(frames) : [];
  const buttons = frames.flatMap((frame) => pressableButtons(frame, boxes).map((button) => ({ frame, button })));
  if (buttons.length > MAX_BUTTONS) return [];
  const says = ({ button }: { button: ClickableFacts }, words: RegExp): boolean => words.test(normalize(button.text));
  const isConsent = asksConsent(frames, topic) && buttons.some((each) => says(each, ALLOW));
  const advancing = isConsent ? [] : buttons.filter((each) => says(each, STAY_SIGNED_IN.test(topic) ? YES : LATER));
  const [lone, ...others] = buttons.filter(({ button }) => button.tag !== 'a');
  const advances = lone !== undefined && (says(lone, CONTINUE_BUTTON) || says(lone, ACKNOWLEDGE));
  if (advances && others.length === 0 && !isConsent && !TERMS_PAGE.test(topic)) advancing.push(lone);
  const offersPasskey = PASSKEY_OFFER.test(topic);
  const createsPasskey = (each: { button: ClickableFacts }): boolean =>
    says(each, PASSKEY_OFFER) || (offersPasskey && says(each, CONTINUE_BUTTON));
  const agrees = (each: { button: ClickableFacts }): boolean =>
    says(each, AGREE) || (boxes.length > 0 && says(each, CONTINUE_BUTTON));
  if (!isConsent && advancing.length === 0 && !(TERMS_PAGE.test(topic) && buttons.some(agrees))) return [];
  const [best] = advancing;
  const question = isConsent ? consentText(frames) : '';
  return buttons
    .filter(({ button }) => button.tag !== 'a' || button === best?.button)
    .map(({ frame, button }) => ({
      type: 'other' as const,
      label: button.text.slice(0, 500),
      selector: button.selector,
      xpath: button.xpath,
      masked_destination: null,
      description: isConsent ? question : null,
      frame: [...frame.path],
      ...(agrees({ button }) ? agreementFor(button, boxes) : {}),
      ...(createsPasskey({ button })
        ? { uses: 'new_passkey' as const }
        : button === best?.button
          ? { agrees_to_nothing: true }
          : {}),
    }));
}

/** True for a page about terms, by its title or a heading, with a button that accepts them. It blocks a visitor who is signed in. */
export function asksToAcceptTerms(frames: readonly FrameSnapshot[]): boolean {
  if (!titlesAndHeadings(frames).some((heading) => TERMS_PAGE.test(normalize(heading)))) return false;
  const boxes = findAgreementBoxes(frames);
  const buttons = frames.flatMap((frame) => pressableButtons(frame, boxes)).filter(({ tag }) => tag !== 'a');
  return (
    buttons.length <= MAX_BUTTONS &&
    buttons.some(
      ({ text }) => AGREE.test(normalize(text)) || (boxes.length > 0 && CONTINUE_BUTTON.test(normalize(text))),
    )
  );
}

/** True if the page's request can be postponed: it has a button or link for that alone. */
export function canPostpone(frames: readonly FrameSnapshot[]): boolean {
  return frames
    .flatMap((frame) => pressableButtons(frame))
    .some(({ text }) => text.length <= MAX_POSTPONE_TEXT && isPostponeText(normalize(text)));
}

/** Buttons on the page of a mailed link: they keep link scanners from signing in. */
const CONFIRM = anyOf(
  "continue, proceed, confirm, verify, it's me, its me, it is me, it was me, click here, tap here",
  'weiter, fortfahren, bestatigen, fortsatt, bekrafta, bekraft, doorgaan, bevestigen',
  'continuer, confirmer, continuar, confirmar, continua, conferma, potwierdz, potvrdit, onayla, devam',
  'продолжить, подтвердить, продовжити, підтвердити, 続ける, 確認, 继续, 确认, 繼續, 계속, 확인',
);
/** An unguessable part of a URL. */
const TOKEN = /[\w-]{16,}/;

/** The only control of a confirmation page, and the URL it leads to according to the markup. */
export interface ConfirmButton {
  readonly selector: string;
  /** Absolute address. */
  readonly targetUrl: string;
}

/**
 * The confirm button of a mailed link's page: its only button or, if there is none, its only link with a token. Null if the page
 * has a field, another button or anything to agree to.
 */
export function findConfirmButton(frames: readonly FrameSnapshot[]): ConfirmButton | null {
  const [top] = frames;
  const topic = pageTopic(frames);
  const hasField = frames.some(({ facts }) => facts.controls.some(({ visible }) => visible));
  if (
    top === undefined ||
    hasField ||
    asksConsent(frames, topic) ||
    TERMS_PAGE.test(topic) ||
    PASSKEY_OFFER.test(topic)
  )
    return null;
  const all = frames.flatMap((frame) => pressableButtons(frame));
  const buttons = all.filter(({ tag }) => tag !== 'a');
  const says = ({ text }: ClickableFacts): boolean => isConfirmText(normalize(text));
  const [lone, ...others] = buttons.length > 0 ? buttons : all.filter((link) => says(link) && TOKEN.test(link.href));
  if (lone === undefined || others.length > 0 || !says(lone) || !top.facts.clickables.includes(lone)) return null;
  const { url, forms } = top.facts;
  const address = lone.tag === 'a' ? lone.href : (forms[lone.form]?.action ?? '');
  if (!URL.canParse(address, url)) return null;
  return { selector: lone.selector, targetUrl: new URL(address, url).href };
}

/** True for the text of a button that postpones what the page asks for. */
export function isPostponeText(said: string): boolean {
  return LATER.test(said);
}

/** True for the text of a button that continues, confirms or signs in. */
export function isConfirmText(said: string): boolean {
  return (
    said.length <= 60 && (CONTINUE_BUTTON.test(said) || CONFIRM.test(said) || SIGN_IN.test(said)) && !LATER.test(said)
  );
}

function asksConsent(frames: readonly FrameSnapshot[], topic: string): boolean {
  return CONSENT.test(topic) || titlesAndHeadings(frames).some((heading) => CONSENT_HEADING.test(normalize(heading)));
}

function titlesAndHeadings(frames: readonly FrameSnapshot[]): string[] {
  return frames.flatMap(({ facts }) => [
    facts.title,
    ...facts.texts.filter(({ heading }) => heading).map(({ text }) => text),
  ]);
}

/** The text of a consent page without its links and buttons: who requests what. */
function consentText(frames: readonly FrameSnapshot[]): string {
  const texts = frames.flatMap(({ facts }) => bodyTexts(facts)).map(({ text }) => text);
  return [...new Set(texts)].join(' · ').slice(0, 500);
}

/** The boxes that must be ticked before a button is pressed, with their text; empty if its form has none. */
function agreementFor(
  { form }: ClickableFacts,
  boxes: readonly AgreementBox[],
): Partial<Pick<ReadChoice, 'description' | 'ticks'>> {
  const own = boxes.filter((box) => box.form === form);
  if (own.length === 0) return {};
  const ticks = own.map(({ selector, frame }) => ({ selector, frame: [...frame] }));
  return {
    description: own
      .map(({ text }) => text)
      .join(' · ')
      .slice(0, 500),
    ticks,
  };
}

/** Buttons and links that can be pressed, at the latest when the boxes of their form are ticked. */
function pressableButtons({ facts }: FrameSnapshot, boxes: readonly AgreementBox[] = []): ClickableFacts[] {
  return facts.clickables.filter(
    ({ visible, disabled, form, region, text, type }) =>
      visible &&
      (!disabled || boxes.some((box) => box.form === form)) &&
      text !== '' &&
      type !== 'radio' &&
      !ASIDE_REGIONS.has(region),
  );
}

/** Words of optional boxes. */
const PROMOTION = anyOf(
  'newsletter*, marketing, promotion*, promotional, offers, special offers, news and updates, product updates, tips, usage data, telemetry, analytics',
  'werbung, angebote, neuigkeiten, actualites, offres, promociones, ofertas, novedades, promozioni, offerte, novita, promocoes, novidades, aanbiedingen, nieuwsbrief, рассылк*, новост*',
);

/** A box that must be ticked to agree. */
interface AgreementBox {
  /** Index into `forms` of its frame; -1 outside of every form. */
  readonly form: number;
  readonly text: string;
  readonly selector: string;
  readonly frame: readonly string[];
}

/** The unticked boxes of a terms page that are required or mention terms, without promotional ones. */
function findAgreementBoxes(frames: readonly FrameSnapshot[]): AgreementBox[] {
  return frames.flatMap(({ facts, path }) =>
    facts.checkboxes
      .filter(isAgreementBox)
      .map(({ form, said, text, selector }) => ({ form, text: said || text, selector, frame: [...path] })),
  );
}

function isAgreementBox({ visible, disabled, checked, required, region, said: all, text }: CheckboxFacts): boolean {
  if (!visible || disabled || checked || ASIDE_REGIONS.has(region)) return false;
  const said = normalize(all || text);
  return required || (TERMS.test(said) && !PROMOTION.test(said));
}
