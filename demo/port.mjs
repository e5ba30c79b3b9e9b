import { createServer } from 'node:net';
import { SetupError } from '../scripts/npm.mjs';

const USUAL = '1880';

/**
 * The port to use: the option `--port`, which is the same in every shell, else PORT, else Node-RED's own 1880.
 * After `set PORT=1890 && npm start` in a Windows command prompt a blank is part of the value.
 */
export function wantedPort(option, variable = process.env.PORT) {
  const [name, text] =
    option === undefined ? ['PORT', variable?.trim() || USUAL] : ['--port', option];
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    throw new SetupError(`${name} must be a number from 1 to 65535, not "${text}".`);
  }
  return port;
}

/**
 * Fails with one clear line when the port cannot be had. Both the loopback address and all
 * addresses are tried, since some systems let two programs share a port that way.
 * @param command for the message
 */
export async function checkPort(port, command = 'npm start') {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const problem = await tryToListen(port, host);
    if (problem === 'EADDRINUSE') {
      throw new SetupError(
        `Port ${port} is taken by another program. Choose another one: ${command} -- --port ${port === 65535 ? USUAL : port + 1}`,
      );
    }
    if (problem) throw new SetupError(`Port ${port} cannot be opened (${problem}).`);
  }
}

function tryToListen(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
