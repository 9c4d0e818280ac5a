import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/**
 * A client as a process of its own, for the tests of the store server: `client-process.ts SOCKET_DIR ROLE`.
 * `transfers` moves money between accounts on three connections; `hang` opens a transaction and says no more.
 */
const [socketDir = '', role = ''] = process.argv.slice(2);
/** Transfers of each connection: a fifth of them is rolled back. */
const ROUNDS = 40;
const config = { host: socketDir, port: 5432, user: 'postgres', database: 'postgres' };

if (role === 'hang') {
  const client = new pg.Client(config);
  await client.connect();
  await client.query('begin');
  await client.query('update accounts set balance = balance - 1000 where id = 0');
  process.stdout.write('hanging\n');
  await sleep(60_000);
} else {
  const counts = await Promise.all([0, 1, 2].map((lane) => transfer(lane)));
  process.stdout.write(`${counts.reduce((sum, count) => sum + count, 0)}\n`);
}

/** Each lane has a connection of its own, prepares a statement of the same name, and takes breaks inside transactions. */
async function transfer(lane: number): Promise<number> {
  const client = new pg.Client(config);
  await client.connect();
  const mine = `${process.pid}-${lane}`;
  let moved = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const amount = 1 + (round % 7);
    const from = (round + lane) % 10;
    await client.query('begin');
    await client.query('update accounts set balance = balance - $1 where id = $2', [amount, from]);
    if (round % 3 === 0) await sleep(2);
    await client.query('update accounts set balance = balance + $1 where id = $2', [amount, (from + 3) % 10]);
    await client.query('insert into moves (who, amount) values ($1, $2)', [mine, amount]);
    if (round % 5 === 4) await client.query('rollback');
    else {
      await client.query('commit');
      moved += 1;
    }
    const named = { name: 'same-name', text: `select $1::text || '${mine}' as said`, values: [`${round} `] };
    const { rows } = await client.query<{ said: string }>(named);
    if (rows[0]?.said !== `${round} ${mine}`)
      throw new Error(`A statement of another client answered: ${rows[0]?.said}`);
    await client.query('select nonsense').catch(() => undefined);
    const own = await client.query<{ n: number }>('select count(*)::int as n from moves where who = $1', [mine]);
    if (own.rows[0]?.n !== moved) throw new Error(`${mine} sees ${own.rows[0]?.n} of its ${moved} moves.`);
  }
  await client.end();
  return moved;
}
