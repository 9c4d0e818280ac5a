import { APIError } from '@onkernel/sdk';

/** An error response as the public client reports it. */
export interface ApiErrorResponse {
  status: number | undefined;
  code: unknown;
  message: unknown;
  body: object;
}

/** The error of a call that must fail. */
export async function apiErrorOf(call: PromiseLike<unknown>): Promise<ApiErrorResponse> {
  let result: unknown;
  try {
    result = await call;
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
  throw new Error(`the call succeeded: ${JSON.stringify(result)}`);
}
