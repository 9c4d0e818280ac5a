import { APIError } from '@onkernel/sdk';

/** What the public client was refused with. */
export interface Refusal {
  status: number | undefined;
  code: unknown;
  message: unknown;
  body: object;
}

/** The refusal of a call that must not succeed. */
export async function refusalOf(call: PromiseLike<unknown>): Promise<Refusal> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const body: unknown = error.error;
    if (typeof body !== 'object' || body === null) throw error;
    return {
      status: Number(error.status),
      code: Reflect.get(body, 'code'),
      message: Reflect.get(body, 'message'),
      body,
    };
  }
  throw new Error(`nothing was refused: ${JSON.stringify(answer)}`);
}
