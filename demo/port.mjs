import { createServer } from 'node:net';
import { SetupError } from '../scripts/npm.mjs';

/** The port a person asked for with PORT, or Node-RED's own 1880. */
export function wantedPort(text = process.env.PORT || '1880') {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    throw new SetupError(`PORT must be a number from 1 to 65535, not "${text}".`);
  }
  return port;
}

/**
 * Fails with one clear line when the port cannot be had. Both the loopback address and all
 * addresses are tried, since some systems let two programs share a port that way.
 */
export async function checkPort(port) {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const problem = await tryToListen(port, host);
    if (problem === 'EADDRINUSE') {
      throw new SetupError(
        `Port ${port} is taken by another program. Choose another one: PORT=${port === 65535 ? 1880 : port + 1} npm start`,
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
