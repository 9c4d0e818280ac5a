import { SANDBOX_USERS, startSandbox } from './site.ts';

/** Runs the practice site on its own: `SANDBOX_PORT` (default 8081), `SANDBOX_STATE_FILE` (default none). */
const port = Number(process.env['SANDBOX_PORT'] ?? 8081);
const stateFile = process.env['SANDBOX_STATE_FILE'];

const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const fail = (line: string): boolean => process.stderr.write(`${line}\n`);

try {
  const site = await startSandbox({
    port,
    ...(stateFile ? { stateFile } : {}),
  });
  print(`Sandbox site: ${site.url}`);
  for (const user of SANDBOX_USERS) {
    print(`  ${user.username} / ${user.password}  TOTP secret ${user.totpSecret}  ${site.url}${user.loginPath}`);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void site.close().then(() => process.exit(0)));
  }
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  fail(
    code === 'EADDRINUSE'
      ? `Port ${port} is in use; stop the process that uses it, or set SANDBOX_PORT`
      : `The sandbox did not start: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exit(1);
}
