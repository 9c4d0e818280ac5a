/** A visitor without a browser: follows redirects by hand and keeps cookies. */
export function createVisitor(base: string) {
  const cookies = new Map<string, string>();

  async function go(
    path: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; url: string; text: string }> {
    let url = new URL(path, base);
    let init: RequestInit = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    for (let hop = 0; hop < 10; hop += 1) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) keep(line);
      const location = answer.headers.get('location');
      if (!location) return { status: answer.status, url: url.pathname, text: await answer.text() };
      url = new URL(location, url);
      init = {};
    }
    throw new Error(`${path} redirects for ever`);
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (attributes.includes('Max-Age=0')) cookies.delete(name);
    else cookies.set(name, pair.slice(at + 1));
    lines.push(line);
  }

  const lines: string[] = [];
  return { go, cookies, cookieLines: lines };
}

/** Presses one of the site's levers for tests. */
export async function control(
  base: string,
  path: string,
  body?: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const answer = await fetch(new URL(path, base), {
    ...(body ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
  });
  const parsed: unknown = await answer.json();
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`${path} answered no object`);
  return { ...parsed };
}
