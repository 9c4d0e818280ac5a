import type { ReadChoice } from '../../contract/reading.ts';
import type { CheckboxFacts, ClickableFacts, FrameSnapshot } from '../facts.ts';
import { PASSKEY_OFFER } from '../signs/page-signs.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { pageTopic } from '../text/page-text.ts';
import { SIGN_IN, TERMS } from '../text/words.ts';

/** Questions whose yes keeps the session: what a login here is for. */
const STAY = anyOf(
  'stay signed in, stay logged in, remain signed in, keep me signed in, keep me logged in, remember me on this, save this browser',
  'trust this device, trust this browser, trust this computer, remember this device, remember this browser, remember this computer',
  'angemeldet bleiben, diesem gerat vertrauen, diesem browser vertrauen, rester connecte, faire confiance a cet appareil',
  'mantener la sesion iniciada, confiar en este dispositivo, rimanere collegato, resta connesso, continuar conectado, aangemeld blijven',
  'не выходить из системы, доверять этому устройству, サインインの状態を維持, このデバイスを信頼, 保持登录, 信任此设备, 로그인 상태를 유지',
);
const YES = /^(yes|ja|oui|si|sim|tak|evet|да|はい|是|예|trust|remember|stay|keep|save|vertrauen|confiar|信任)(?![a-z])/;
/** Buttons that put off what a site would like to have. */
const LATER = anyOf(
  'not now, skip, skip for now, maybe later, remind me later, later, no thanks, no thank you, do this later, ask me later, i will do it later',
  'nicht jetzt, spater, jetzt nicht, uberspringen, vielleicht spater, plus tard, pas maintenant, ignorer, ahora no, omitir, mas tarde, quizas mas tarde',
  'non ora, salta, piu tardi, agora nao, pular, mais tarde, niet nu, overslaan, nie teraz, pomin, simdi degil, atla, не сейчас, пропустить, позже',
  '後で, スキップ, 今はしない, 以后再说, 跳过, 暂不, 나중에, 건너뛰기',
);
/** A page about what is to be agreed to. */
const TERMS_PAGE = anyOf(
  'terms of service, terms of use, terms and conditions, user agreement, license agreement, privacy policy, acceptable use, updated our terms, updated terms',
  'nutzungsbedingungen, datenschutzerklarung, conditions d utilisation, conditions generales, terminos y condiciones, condiciones de uso, termini di servizio, termos de uso',
  'пользовательское соглашение, условия использования, 利用規約, 服务条款, 用户协议, 이용약관',
);
const AGREE = anyOf(
  'accept, agree, i accept, i agree, accept and continue, agree and continue, akzeptieren, zustimmen, ich stimme zu, accepter, j accepte, aceptar, acepto, accetto, accetta, aceito, aceitar, akceptuje, принять, принимаю, 同意する, 同意, 동의',
);

/** A page that asks whether an application may have what a provider knows. */
const CONSENT = anyOf(
  'wants to access, would like to access, wants access to, is requesting access, requests access, requesting permission, grant access, authorize application, allow access, would like permission, do you want to allow, access to your account, grant these access privileges, confirm previously given authorization, requests the following permissions, permissions requested, will be able to access, wants permission to, would like to access, wants to share, share your information with',
  'mochte zugreifen, zugriff erlauben, zugriff gewahren, souhaite acceder, autoriser l acces, quiere acceder, solicita acceso, vuole accedere, deseja acessar, хочет получить доступ, アクセスを許可, 请求访问, 액세스를 요청',
);
/** Headings that say no more than what is wanted. */
const CONSENT_HEADING =
  /^(authori[sz]e|consent|consent required|authori[sz]ation( request)?|permissions?|einwilligung|autorisierung|autorisation|autorizacion|autorizzazione|autorizacao)$/;
const ALLOW =
  /^(allow|authori[sz]e|grant|approve|accept|agree|yes|continue|erlauben|zulassen|zustimmen|autoriser|accepter|permitir|autorizar|aceptar|consenti|permetti|разрешить|許可|允许|허용)(?![a-z])/;
const ONWARD =
  /^(continue|next|proceed|ok|go on|weiter|fortfahren|continuer|suivant|continuar|siguiente|continua|avanti|doorgaan|volgende|dalej|devam|продолжить|далее|続ける|次へ|继续|下一步|계속|다음)$/;

/** A page with more to press than this has other things to do than to ask. */
const MAX_BUTTONS = 12;

/**
 * What stands between a login and the site's inside: stay signed in, set this up later, agree to terms, let an application
 * have what a provider knows, a lone button that leads on. The choices of such a consent carry what it is about as their
 * description. Only for a page after an answer: anywhere else such words are part of the furniture.
 */
export function readInterstitial(frames: readonly FrameSnapshot[]): ReadChoice[] {
  const topic = pageTopic(frames);
  const boxes = TERMS_PAGE.test(topic) ? findAgreementBoxes(frames) : [];
  const buttons = frames.flatMap((frame) => pressable(frame, boxes).map((button) => ({ frame, button })));
  if (buttons.length > MAX_BUTTONS) return [];
  const says = ({ button }: { button: ClickableFacts }, words: RegExp): boolean => words.test(normalize(button.text));
  const isConsent = asksConsent(frames, topic) && buttons.some((each) => says(each, ALLOW));
  const onward = isConsent ? [] : buttons.filter((each) => says(each, STAY.test(topic) ? YES : LATER));
  const [lone, ...others] = buttons.filter(({ button }) => button.tag !== 'a');
  if (lone !== undefined && others.length === 0 && !isConsent && !TERMS_PAGE.test(topic) && says(lone, ONWARD))
    onward.push(lone);
  const offersPasskey = PASSKEY_OFFER.test(topic);
  const createsPasskey = (each: { button: ClickableFacts }): boolean =>
    says(each, PASSKEY_OFFER) || (offersPasskey && says(each, ONWARD));
  const agrees = (each: { button: ClickableFacts }): boolean =>
    says(each, AGREE) || (boxes.length > 0 && says(each, ONWARD));
  const asks = isConsent || onward.length > 0 || (TERMS_PAGE.test(topic) && buttons.some(agrees));
  if (!asks) return [];
  const [best] = onward;
  const question = isConsent ? saidBeside(frames) : '';
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
      ...(agrees({ button }) ? tickedFor(button, boxes) : {}),
      ...(createsPasskey({ button })
        ? { uses: 'new_passkey' as const }
        : button === best?.button
          ? { agrees_to_nothing: true }
          : {}),
    }));
}

/**
 * True of a page that is about terms, as its title or a heading says, and has a button that agrees to them. Whoever meets it is
 * known to the site already, and gets no further.
 */
export function asksToAcceptTerms(frames: readonly FrameSnapshot[]): boolean {
  if (!headingsOf(frames).some((heading) => TERMS_PAGE.test(normalize(heading)))) return false;
  const boxes = findAgreementBoxes(frames);
  const buttons = frames.flatMap((frame) => pressable(frame, boxes)).filter(({ tag }) => tag !== 'a');
  return (
    buttons.length <= MAX_BUTTONS &&
    buttons.some(({ text }) => AGREE.test(normalize(text)) || (boxes.length > 0 && ONWARD.test(normalize(text))))
  );
}

/** Buttons behind a mailed link, which wait for a press so that no program that only looks at links is signed in. */
const CONFIRM = anyOf(
  "continue, proceed, confirm, verify, it's me, its me, it is me, it was me, click here, tap here",
  'weiter, fortfahren, bestatigen, fortsatt, bekrafta, bekraft, doorgaan, bevestigen',
  'continuer, confirmer, continuar, confirmar, continua, conferma, potwierdz, potvrdit, onayla, devam',
  'продолжить, подтвердить, продовжити, підтвердити, 続ける, 確認, 继续, 确认, 繼續, 계속, 확인',
);
/** A part of an address that nobody could guess. */
const SECRET_PART = /[\w-]{16,}/;

/** The lone control of a page that asks for nothing but a press, and where its press leads by what the page says. */
export interface ConfirmButton {
  readonly selector: string;
  /** Absolute address. */
  readonly targetUrl: string;
}

/**
 * What a page behind a mailed link wants pressed before it signs in: its only button, or without one its only link that carries a
 * secret; null where there is a field, a second button, or anything to agree to. Only for such a page.
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
  const all = frames.flatMap((frame) => pressable(frame));
  const buttons = all.filter(({ tag }) => tag !== 'a');
  const says = ({ text }: ClickableFacts): boolean => isPress(normalize(text));
  const [lone, ...others] =
    buttons.length > 0 ? buttons : all.filter((link) => says(link) && SECRET_PART.test(link.href));
  if (lone === undefined || others.length > 0 || !says(lone) || !top.facts.clickables.includes(lone)) return null;
  const { url, forms } = top.facts;
  const address = lone.tag === 'a' ? lone.href : (forms[lone.form]?.action ?? '');
  if (!URL.canParse(address, url)) return null;
  return { selector: lone.selector, targetUrl: new URL(address, url).href };
}

function isPress(said: string): boolean {
  return said.length <= 60 && (ONWARD.test(said) || CONFIRM.test(said) || SIGN_IN.test(said)) && !LATER.test(said);
}

function asksConsent(frames: readonly FrameSnapshot[], topic: string): boolean {
  return CONSENT.test(topic) || headingsOf(frames).some((heading) => CONSENT_HEADING.test(normalize(heading)));
}

function headingsOf(frames: readonly FrameSnapshot[]): string[] {
  return frames.flatMap(({ facts }) => [
    facts.title,
    ...facts.texts.filter(({ heading }) => heading).map(({ text }) => text),
  ]);
}

/** What a page says beside its links and buttons: who asks for what. */
function saidBeside(frames: readonly FrameSnapshot[]): string {
  const aside = new Set(['consent', 'nav', 'footer']);
  const texts = frames
    .flatMap(({ facts }) => facts.texts)
    .filter(({ within, region }) => within === 'none' && !aside.has(region))
    .map(({ text }) => text);
  return [...new Set(texts)].join(' · ').slice(0, 500);
}

/** What a button needs ticked, told to whom it is offered; nothing where there are no such boxes in its form. */
function tickedFor(
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

/** What can be pressed, or could be once the boxes of its form are ticked. */
function pressable({ facts }: FrameSnapshot, boxes: readonly AgreementBox[] = []): ClickableFacts[] {
  const aside = new Set(['consent', 'nav', 'footer', 'header']);
  return facts.clickables.filter(
    ({ visible, disabled, form, region, text, type }) =>
      visible &&
      (!disabled || boxes.some((box) => box.form === form)) &&
      text !== '' &&
      type !== 'radio' &&
      !aside.has(region),
  );
}

/** Boxes that sites would like to see ticked, and go on without. */
const PROMOTION = anyOf(
  'newsletter*, marketing, promotion*, promotional, offers, special offers, news and updates, product updates, tips, usage data, telemetry, analytics',
  'werbung, angebote, neuigkeiten, actualites, offres, promociones, ofertas, novedades, promozioni, offerte, novita, promocoes, novidades, aanbiedingen, nieuwsbrief, рассылк*, новост*',
);
const ASIDE = new Set(['consent', 'nav', 'footer', 'header']);

/** A box that an agreement rests on. */
export interface AgreementBox {
  /** Index into `forms` of its frame; -1 outside of every form. */
  readonly form: number;
  readonly text: string;
  readonly selector: string;
  readonly frame: readonly string[];
}

/**
 * What must be ticked on a page about terms before its button takes effect: boxes that their form is not sent without, or that
 * speak of terms. One that is ticked already, and one that only a seller would like to see ticked, is left as it is.
 */
export function findAgreementBoxes(frames: readonly FrameSnapshot[]): AgreementBox[] {
  return frames.flatMap(({ facts, path }) =>
    facts.checkboxes
      .filter(isWanted)
      .map(({ form, said, text, selector }) => ({ form, text: said || text, selector, frame: [...path] })),
  );
}

function isWanted({ visible, disabled, checked, required, region, said: all, text }: CheckboxFacts): boolean {
  if (!visible || disabled || checked || ASIDE.has(region)) return false;
  const said = normalize(all || text);
  return required || (TERMS.test(said) && !PROMOTION.test(said));
}
