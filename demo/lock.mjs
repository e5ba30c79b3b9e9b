import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { SetupError } from '../scripts/npm.mjs';

const ANSWERS_WITHIN_MS = 2000;

/**
 * Lets one demo at a time run in a user folder: two would write the same files. The lock is a file with the
 * process's id and a port of loopback that is open as long as it runs. So the file of a demo that has crashed
 * locks nothing, even if its process id belongs to another program by now.
 * @param editor the address that a second demo shows
 * @throws SetupError if a demo is running
 */
export async function lock(folder, editor) {
  const file = join(folder, 'demo.lock');
  const server = createServer((socket) => socket.on('error', () => undefined).end(token));
  const token = randomUUID();
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen({ port: 0, host: '127.0.0.1' }, resolve);
  });
  server.unref();
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ pid: process.pid, port: server.address().port, token, editor });
  // Of two that start in the same moment, one writes the file, and the other one finds it.
  for (let tries = 0; !write(file, text); tries++) {
    const other = read(file);
    if (tries === 1 || (await isRunning(other))) throw alreadyRunning(other);
    rmSync(file, { force: true });
  }
  process.once('exit', () => {
    if (read(file).token === token) rmSync(file, { force: true });
  });
}

function write(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** What the file says; nothing, if it is gone or broken. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Whether the demo that wrote the file still runs. While it installs or builds, it connects but does not answer. */
function isRunning({ pid, port, token }) {
  if (!isAlive(pid) || !Number.isInteger(port) || port < 1 || port > 65535) return false;
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (running) => {
      socket.destroy();
      resolve(running);
    };
    socket.setEncoding('utf8').setTimeout(ANSWERS_WITHIN_MS, () => end(answer === ''));
    socket.on('data', (data) => (answer += data).length > token.length && end(false));
    socket.once('error', () => end(false));
    socket.once('end', () => end(answer === token));
  });
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It exists, but belongs to somebody else.
    return error.code === 'EPERM';
  }
}

const alreadyRunning = ({ pid, editor }) =>
  new SetupError(`The demo of this folder is running already (process ${pid}): ${editor}`);
