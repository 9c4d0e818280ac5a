import type { ClickableFacts, FrameFacts } from '../facts.ts';
import { isContinueButton } from '../form/buttons.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { FORGOT, SIGN_OUT } from '../text/words.ts';

const PICKER = anyOf(
  'choose an account, pick an account, select an account, choose account, select account, which account, choose your account, switch account',
  'choose an organization, select an organization, choose organization, select organization, choose a workspace, select a workspace, your workspaces',
  'choose a team, select a team, select tenant, choose a tenant, select a company, choose a company, select your role, choose a role, select profile',
  'choose a profile, select your organization, choose your organization, select your workspace, choose a site, select a site, continue as',
  'konto auswahlen, wahlen sie ein konto, konto wahlen, kies een account, valj ett konto, velg en konto, vaelg en konto',
  'choisissez un compte, choisir un compte, selectionner un compte, elige una cuenta, selecciona una cuenta, elegir una cuenta, scegli un account',
  'escolha uma conta, escolher uma conta, selecione uma conta, wybierz konto, vyberte ucet, hesap secin, bir hesap secin, chon tai khoan',
  'выберите аккаунт, выберите учетную запись, выберите организацию, アカウントを選択, アカウントの選択, 选择账号, 选择帐号, 選擇帳戶, 选择账户, 계정 선택',
);
const OTHER_ACCOUNT = anyOf(
  'use another account, another account, different account, use a different account, add account, add an account, other account, not you',
  'anderes konto, ander account, annat konto, autre compte, otra cuenta, altro account, outra conta, inne konto, baska bir hesap',
  'другой аккаунт, сменить аккаунт, 別のアカウント, 其他账号, 其他帐号, 使用其他, 다른 계정',
);
const ASIDE = /remove|forget|privacy|terms|help|learn more|create|back|cancel|settings|entfernen|hilfe/;

/** `Continue as Alice` */
function isRememberedAccount(button: ClickableFacts): boolean {
  return REMEMBERED.test(normalize(button.text));
}

const REMEMBERED =
  /^(continue as|log in as|sign in as|weiter als|fortfahren als|continuer en tant que|continuar como|continua come|продолжить как) (?!(a )?guest|gast|invite|invitado|ospite)/;

/** True for a page that asks which of several accounts or organizations to continue with. */
export function isAccountPicker(facts: FrameFacts, said: string): boolean {
  const shown = facts.clickables.filter((each) => each.visible);
  if (shown.some(isRememberedAccount)) return true;
  return PICKER.test(said) && shown.some((each) => isAccountEntry(each) || isOtherAccountEntry(each));
}

/** True for an account entry: a name with an e-mail address, or a row of a list. */
export function isAccountEntry(button: ClickableFacts): boolean {
  const said = normalize(button.text);
  if (!said || said.length > 150 || isOtherAccountEntry(button)) return false;
  if (ASIDE.test(said) || FORGOT.test(said) || SIGN_OUT.test(said)) return false;
  if (button.region === 'footer' || button.region === 'nav' || button.region === 'header') return false;
  if (/\S@\S+\.\S/.test(button.text) || /data-identifier|data-account|data-email|data-user/.test(button.extra))
    return true;
  if (isRememberedAccount(button)) return true;
  if (isContinueButton(button)) return false;
  return (
    button.type === 'radio' ||
    button.lines.length >= 2 ||
    ['option', 'radio', 'link', 'menuitem'].includes(button.role) ||
    button.tag === 'button' ||
    /account|user|org|tenant|workspace|team|role|profile/i.test(`${button.classes} ${button.href}`)
  );
}

/** True for the `Use another account` entry. */
export function isOtherAccountEntry(button: ClickableFacts): boolean {
  return OTHER_ACCOUNT.test(normalize(button.text));
}
