// The keeper: a small process that owns one PostgreSQL and ends it when there is no lease on it any more.

/**
 * A lease is an open connection to the keeper, so it ends with the process that holds it, however that ends: even a SIGKILL of
 * the app or of a test run stops the server and removes a throwaway folder. The keeper is a session of its own,
 * so Ctrl-C in a terminal does not reach it and PostgreSQL shuts down properly.
 *
 * It is a string that is passed to `node -` on standard input (after `const order = …`), because this package is built as ESM and
 * as CommonJS and may be bundled: no path to a script file would be right in all of them. It is simple on purpose:
 * the lease that started it sends over the connection what to run, one JSON value per line.
 */
export const KEEPER_SOURCE = String.raw`
'use strict';
const builtin = (name) => process.getBuiltinModule('node:' + name);
const fs = builtin('fs');
const net = builtin('net');
const path = builtin('path');
const { spawn } = builtin('child_process');
process.title = 'rhythm-keeper';

const leases = new Set();
const jobs = new Set();
let owner, folder, postgres, served, closing, locked = false;

const server = net.createServer((socket) => {
  let unread = '';
  let known = false;
  const send = (value) => { if (!socket.destroyed) socket.write(JSON.stringify(value) + '\n'); };
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (text) => {
    unread += text;
    for (let end; (end = unread.indexOf('\n')) >= 0; ) {
      const line = unread.slice(0, end);
      unread = unread.slice(end + 1);
      if (known) handle(JSON.parse(line), send, socket);
      else if (line === order.token) {
        known = true;
        leases.add(socket);
        owner ??= socket;
        socket.send = send;
        send({ keeper: process.pid, folder });
        if (served && !closing) send({ served });
      } else return socket.destroy();
    }
  });
  socket.on('close', () => {
    leases.delete(socket);
    if (leases.size === 0 || (socket === owner && !served)) shutDown();
  });
});

function handle(message, send, socket) {
  if (closing) return;
  if (message.run) run(message.run, send);
  if (message.serve) serve(message.serve, send);
  if (message.leave) {
    if (leases.size === 1) shutDown();
    else socket.end();
  }
}

function run(job, send) {
  let output = '';
  const child = spawn(job.file, job.args, { ...job.options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  jobs.add(child);
  const keep = (text) => { output = (output + text).slice(-4000); };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.on('error', (error) => { jobs.delete(child); send({ ended: { code: -1, output: error.message } }); });
  child.on('close', (code) => { if (jobs.delete(child)) send({ ended: { code, output } }); });
}

function serve(job, send) {
  const log = fs.openSync(job.log, 'w', 0o600);
  const child = spawn(job.file, job.args, { ...job.options, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  postgres = child;
  const poll = setInterval(() => {
    const lines = read(job.pidFile).split('\n');
    if (Number(lines[0]) !== child.pid || !(lines[7] ?? '').startsWith('ready')) return;
    clearInterval(poll);
    served = job.url;
    for (const lease of leases) lease.send({ served });
  }, 10);
  const ended = (why) => {
    clearInterval(poll);
    if (postgres !== child) return;
    postgres = undefined;
    if (served) shutDown();
    else send({ ended: { code: -1, output: why + '\n' + read(job.log).slice(-4000) } });
  };
  child.on('error', (error) => ended(error.message));
  child.on('exit', (code, signal) => ended('postgres ended with ' + (signal ?? 'code ' + code)));
}

function read(file) {
  try { return fs.readFileSync(file, 'utf8'); } catch { return ''; }
}

function shutDown() {
  closing ??= (async () => {
    for (const job of jobs) {
      try { process.kill(-job.pid, 'SIGKILL'); } catch { job.kill('SIGKILL'); }
    }
    const child = postgres;
    if (child && child.exitCode === null && child.signalCode === null) {
      await new Promise((done) => {
        child.on('exit', done);
        child.kill(order.stopSignal);
        setTimeout(() => child.kill('SIGQUIT'), 30000).unref();
        setTimeout(() => child.kill('SIGKILL'), 40000).unref();
      });
    }
    if (order.throwaway && folder) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    if (locked) fs.rmSync(order.lock, { force: true });
    process.exit(0);
  })();
}

function takeLock(port) {
  const draft = order.lock + '.' + process.pid;
  fs.writeFileSync(draft, JSON.stringify({ port, token: order.token, pid: process.pid }), { mode: 0o600 });
  try { fs.linkSync(draft, order.lock); return true; } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally { fs.rmSync(draft, { force: true }); }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, shutDown);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  if (order.lock) {
    locked = takeLock(port);
    if (!locked) { process.stdout.write('{"taken":true}\n'); process.exit(0); }
  }
  if (order.throwaway) {
    folder = fs.mkdtempSync(path.join(order.throwaway, 'rhythm-pg-' + process.pid + '-'));
    fs.chmodSync(folder, 0o711);
  }
  setTimeout(() => { if (!owner) shutDown(); }, 10000).unref();
  process.stdout.write(JSON.stringify({ port }) + '\n');
});
`;
