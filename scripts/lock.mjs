import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { SetupError } from './npm.mjs';

const ANSWERS_WITHIN_MS = 2000;

/**
 * Lets one process at a time go on; it has the lock until it ends. The lock is a file with the process's id and a
 * port of loopback that is open as long as it runs. So the file of a process that has crashed locks nothing, even if its
 * process id belongs to another program by now.
 * @param file of the lock
 * @param refusal makes the message for a second process, from the `pid` and the `shown` of the first one
 * @param shown further values for that message
 * @throws SetupError if a process has the lock
 */
export async function lock(file, refusal, shown = {}) {
  const server = createServer((socket) => socket.on('error', () => undefined).end(token));
  const token = randomUUID();
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen({ port: 0, host: '127.0.0.1' }, resolve);
  });
  server.unref();
  mkdirSync(dirname(file), { recursive: true });
  const text = JSON.stringify({ pid: process.pid, port: server.address().port, token, ...shown });
  // Of two that start in the same moment, one writes the file, and the other one finds it.
  for (let tries = 0; !write(file, text); tries++) {
    const other = read(file);
    if (tries === 1 || (await isRunning(other))) throw new SetupError(refusal(other));
    rmSync(file, { force: true });
  }
  process.once('exit', () => {
    if (read(file).token === token) rmSync(file, { force: true });
  });
}

/** Creates the file with its text already in it, since an empty one would be taken for that of a crashed process. */
function write(file, text) {
  const complete = `${file}.${process.pid}`;
  writeFileSync(complete, text);
  try {
    linkSync(complete, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(complete, { force: true });
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

/** Whether the process that wrote the file still runs. While it is busy, it connects but does not answer. */
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
