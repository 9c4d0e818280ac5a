import type { BrowserService } from './service.ts';

/** Makes a profile (`POST /profiles`); false where that is refused: it is there already, or the service serves none itself. */
export async function createProfile(
  service: BrowserService,
  projectId: string,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const call = { method: 'POST' as const, path: '/profiles', projectId, body: { name }, schema: null, signal };
  return (await service.exchange(call)).status < 300;
}
