import { SHOP_PASSKEY, TOKEN, type Answer, type Call } from './stand-ins.ts';

/** A field of an item of 1Password. */
interface ConnectField {
  id: string;
  type?: string;
  purpose?: string;
  label?: string;
  value?: string;
}

/** One item of a Connect server; `readOnly`: for the token. */
export interface ConnectItem {
  version: number;
  fields: ConnectField[];
  readOnly?: boolean;
}

/** The shop's item of {@link onePasswordAnswers}. */
export function connectItem(): ConnectItem {
  return {
    version: 7,
    fields: [
      { id: 'username', type: 'STRING', purpose: 'USERNAME', label: 'username', value: 'ann@shop.example' },
      { id: 'password', type: 'CONCEALED', purpose: 'PASSWORD', label: 'password', value: 'pw-1p' },
      { id: 'notes', type: 'STRING', purpose: 'NOTES', label: 'notesPlain', value: 'nothing to type' },
      { id: 'x', type: 'OTP', label: 'one-time password', value: 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP' },
      { id: 'y', type: 'STRING', label: 'customer_number', value: '4711' },
      { id: 'z', type: 'CONCEALED', label: 'Passkeys', value: JSON.stringify([SHOP_PASSKEY]) },
    ],
  };
}

/**
 * A 1Password Connect server with one vault. Its patches know `add`, `remove` and `replace` and no `test`; `add` at `/fields` is one
 * field more, and no request says which version it is made for.
 */
export function connectAnswers(item: ConnectItem): (call: Call) => Answer {
  const summary = { id: 'i1', title: 'Shop', category: 'LOGIN', urls: [{ href: 'https://www.shop.example/login' }] };
  const others = [
    { id: 'i2', title: 'Note', category: 'SECURE_NOTE' },
    { ...summary, id: 'i3', title: 'Bank', urls: [] },
  ];
  return ({ method, path, headers, body }) => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return [401, { status: 401, message: 'Invalid bearer token' }];
    if (path === '/v1/vaults') return [200, [{ id: 'v1', name: 'Team' }]];
    if (path === '/v1/vaults/v1/items') return [200, [summary, ...others]];
    if (path !== '/v1/vaults/v1/items/i1') return [404, { status: 404, message: 'item not found' }];
    if (method === 'PATCH') {
      if (item.readOnly === true) return [403, { status: 403, message: 'token does not have permission' }];
      const changes = JSON.parse(body) as { op: string; path: string; value: Omit<ConnectField, 'id'> }[];
      if (changes.some(({ op, path: at }) => op !== 'add' || at !== '/fields'))
        return [400, { status: 400, message: 'Invalid patch operation' }];
      for (const { value } of changes) item.fields.push({ id: `f${item.fields.length}`, ...value });
      item.version += 1;
    } else if (method !== 'GET') return [405, { status: 405, message: 'Method not allowed' }];
    const { version, fields } = item;
    return [200, { ...summary, version, fields }];
  };
}

/** The same, as nobody has changed it. */
export const onePasswordAnswers = (call: Call): Answer => connectAnswers(connectItem())(call);
