import { SANDBOX_USERS, startSandbox } from './site.ts';

/** Runs the practice site alone: `SANDBOX_PORT` (8081), `SANDBOX_STATE_FILE` (none). */
const port = Number(process.env['SANDBOX_PORT'] ?? 8081);
const stateFile = process.env['SANDBOX_STATE_FILE'];

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const complain = (line: string): boolean => process.stderr.write(`${line}\n`);

try {
  const site = await startSandbox({
    port,
    ...(stateFile ? { stateFile } : {}),
  });
  say(`Sandbox site: ${site.url}`);
  for (const user of SANDBOX_USERS) {
    say(`  ${user.username} / ${user.password}  TOTP secret ${user.totpSecret}  ${site.url}${user.loginPath}`);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void site.close().then(() => process.exit(0)));
  }
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  complain(
    code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what listens there, or set SANDBOX_PORT.`
      : `The sandbox did not start: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exit(1);
}
