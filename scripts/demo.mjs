// `npm run demo`: orders, a killed worker, and the proof that every order finished exactly once. Needs only `npm ci`.
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import color from 'picocolors';
import './register-typescript.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LOADER = new URL('./register-typescript.mjs', import.meta.url).href;
const started = Date.now();
const children = new Set();
let server;
let db;
let leaving;

process.on('SIGINT', () => void leave(130));
process.on('SIGTERM', () => void leave(143));

try {
  await runDemo();
  await leave(0);
} catch (error) {
  // Ctrl-C ends the processes in the middle of the demo; that is not a failure.
  if (leaving) await leaving;
  console.error(color.red(`\nThe demo failed: ${error.stack}`));
  for (const child of children) console.error(color.dim(`--- ${child.name}\n${child.output().split('\n').slice(-30).join('\n')}`));
  await leave(1);
}

async function runDemo() {
  heading('A shop on NestJS, with PostgreSQL and nothing else. Every order is a workflow: sample-app/flows/order.flow');
  const { startEmbedded } = await import('../libs/embedded/index.ts');
  server = await startEmbedded({ durable: true });
  db = new pg.Client({ connectionString: server.url });
  db.on('error', () => {});
  await db.connect();
  step('PostgreSQL is running (embedded, with durable settings: fsync on)');

  const shop = launch('shop', { RHYTHM_ROLE: 'api' });
  const url = (await shop.line(/listening on (\S+)/))[1];
  const first = launch('worker', { RHYTHM_ROLE: 'worker' });
  await first.line(/worker ready/);
  step(`the shop serves HTTP (pid ${shop.pid}), a worker runs tasks and workflows (pid ${first.pid})`);

  heading('Twelve customers order. Orders above 500 must be approved by a person.');
  const orders = Array.from({ length: 12 }, (_, n) => order(n + 1));
  for (const each of orders) await call('POST', `${url}/orders`, each);
  const expensive = orders.filter((each) => total(each) > 500);
  await until('every expensive order to wait for approval', async () => {
    const found = await Promise.all(expensive.map((each) => call('GET', `${url}/orders/${each.id}`)));
    return found.every(({ where }) => String(where.branches[0]?.waitsFor).startsWith('signal'));
  });

  heading('The current line of each. It is read from the stored state of the virtual machine; no process holds it in memory:');
  for (const each of expensive) await showPaused(url, each.id);

  heading('All are approved, and the labels are sent to the printer.');
  for (const each of expensive) await call('POST', `${url}/orders/${each.id}/approval`, { approved: true, by: 'ann' });
  await until('labels to be printing', async () => (await printing()) >= 3);

  heading(color.red(`kill -9 ${first.pid}`) + color.bold(' – while labels are being printed.'));
  first.kill('SIGKILL');
  await first.ended;
  const labels = await countOf(`select count(*)::int as n from ledger where kind = 'label'`);
  const running = await countOf(`select count(*)::int as n from rhythm.execution_status where status = 'running'`);
  step(`the worker was running ${running} executions; ${labels} of 12 labels are committed`);

  const second = launch('worker', { RHYTHM_ROLE: 'worker' });
  await second.line(/worker ready/);
  step(`a new worker starts (pid ${second.pid}), declares the killed one dead, and takes over its work`);
  const ended = `select count(*)::int as n from rhythm.executions where type = 'workflow' and target_name = 'order' and finished_at is not null`;
  await until('every order to end', async () => (await countOf(ended)) === orders.length, 25_000);

  heading('The proof, counted in SQL:');
  const proof = [
    ['orders placed', `select count(*)::int as n from orders`, 12],
    ['orders done', `select count(*)::int as n from orders where status = 'done'`, 12],
    ['payments taken (one each)', `select count(*)::int as n from ledger where kind = 'payment'`, 12],
    ['stock reservations (one each)', `select count(*)::int as n from ledger where kind = 'reservation'`, 12],
    ['labels printed (one each)', `select count(*)::int as n from ledger where kind = 'label'`, 12],
    [
      'effects that happened twice',
      `select count(*)::int as n from (select 1 from ledger group by "orderId", kind having count(*) > 1) twice`,
      0,
    ],
    [
      'workflows completed',
      `select count(*)::int as n from rhythm.executions where type = 'workflow' and target_name = 'order' and status = 'completed'`,
      12,
    ],
    [
      'executions taken over from the dead worker',
      `select count(distinct execution_id)::int as n from rhythm.history where kind = 'recovered'`,
      undefined,
    ],
  ];
  let wrong = 0;
  for (const [what, sql, expected] of proof) {
    const n = await countOf(sql);
    const right = expected === undefined ? n > 0 : n === expected;
    if (!right) wrong++;
    console.log(`  ${right ? color.green('✓') : color.red('✗')} ${String(n).padStart(3)}  ${what}`);
  }
  if (wrong > 0) throw new Error(`${wrong} of the counts are wrong.`);
  heading(color.green(`Every order finished exactly once. ${((Date.now() - started) / 1000).toFixed(1)} s.`));
}

async function showPaused(url, id) {
  const { where } = await call('GET', `${url}/orders/${id}`);
  const [{ stack, waitsFor }] = where.branches;
  const [{ file, line, sourceLine, locals }] = stack;
  console.log(`  ${color.cyan(id)}  ${file}:${line}  ${color.dim(`total = ${locals.total}, waits for ${waitsFor}`)}`);
  console.log(`            ${color.yellow(sourceLine.trim())}`);
}

function printing() {
  return countOf(`select count(*)::int as n from rhythm.execution_status where target_name = 'print-label' and status = 'running'`);
}

function order(n) {
  const cheap = n % 3 === 0;
  return {
    id: `order-${String(n).padStart(2, '0')}`,
    customer: { email: `customer${n}@example.com`, address: { street: `${n} Harbour Rd`, city: 'Oslo', zip: '0150' } },
    items: cheap
      ? [{ sku: 'BULB-9', price: 7.25, quantity: n }]
      : [
          { sku: 'DESK-1', price: 449, quantity: 1 },
          { sku: 'LAMP-3', price: 129.5, quantity: 2 },
        ],
  };
}

function total({ items }) {
  return items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
}

function launch(name, env) {
  let output = '';
  const child = spawn(process.execPath, ['--import', LOADER, 'sample-app/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_NO_WARNINGS: '1',
      NO_COLOR: '1',
      PORT: '0',
      RHYTHM_DATABASE_URL: server.url,
      // Short, so that the demo does not wait thirty seconds.
      RHYTHM_WORKER_HEARTBEAT_INTERVAL: '500ms',
      RHYTHM_WORKER_DEAD_AFTER: '2s',
      SHOP_REVIEW_AFTER: '1s',
      SHOP_PRINTER_MS: '600',
      ...env,
    },
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  const handle = {
    name,
    pid: child.pid,
    ended,
    kill: (signal) => child.kill(signal),
    output: () => output,
    async line(pattern) {
      const found = await until(`${name} to print ${pattern}`, () => output.match(pattern) ?? (hasEnded ? 'ended' : false), 20_000);
      if (found === 'ended') throw new Error(`${name} ended early:\n${output}`);
      return found;
    },
  };
  children.add(handle);
  void ended.then(() => {
    if (server) children.delete(handle);
  });
  return handle;
}

async function call(method, url, body) {
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function countOf(sql) {
  return (await db.query(sql)).rows[0].n;
}

async function until(what, condition, timeoutMs = 15_000) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}.`);
    await pause(25);
  }
}

function heading(text) {
  console.log(`\n${color.bold(text)}`);
}

function step(text) {
  console.log(`  ${text}`);
}

function leave(code) {
  leaving ??= (async () => {
    for (const child of children) child.kill('SIGTERM');
    await Promise.race([Promise.all([...children].map((child) => child.ended)), pause(3_000, undefined, { ref: false })]);
    for (const child of children) child.kill('SIGKILL');
    await db?.end().catch(() => {});
    await server?.stop();
    process.exit(code);
  })();
  return leaving;
}
