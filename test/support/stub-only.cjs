// Preloaded into a tool that asks the world outside: its sockets lead to the stub of a test and to
// nowhere else. Any other ends it at once, since tools take a failed request for an answer.
const { Socket } = require('node:net');
const process = require('node:process');

const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  const [{ host, port }] = Array.isArray(given[0]) ? given[0] : given;
  if (host === '127.0.0.1' && Number(port) === Number(process.env.STUB_PORT)) {
    return connect.apply(this, given);
  }
  process.stderr.write(`Nobody expected a connection to ${String(host)}, port ${port}.\n`);
  return process.exit(97);
};
