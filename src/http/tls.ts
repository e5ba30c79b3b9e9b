import { isIP } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** The time limit for establishing a connection, in ms; a command is better refused early than late. */
export const CONNECT_TIMEOUT = 10_000;

/**
 * Of a name with several addresses, each is tried for this many milliseconds before the next one. Node.js gives it 250, so
 * that a name with IPv6, on a machine without it, is never reached over a slow IPv4.
 */
export const EACH_ADDRESS = { autoSelectFamilyAttemptTimeout: 2500 } as const;

/** TLS settings, for HTTP and channel alike. Each has the name and the meaning of an option of `tls.connect` of Node.js. */
export interface TlsSettings {
  /** Certificates, in PEM, of the authorities to trust in place of the usual ones. */
  ca?: string | Buffer;
  /** This client's certificate, in PEM, if the service asks for one. */
  cert?: string | Buffer;
  /** The private key of `cert`, in PEM. */
  key?: string | Buffer;
  /** The passphrase of `key`. */
  passphrase?: string;
  /** The host name to ask for and to check the certificate against; default: the host of `baseUrl`. */
  servername?: string;
  /** `false` accepts any certificate: for a test, never for a service. Default `true`. */
  rejectUnauthorized?: boolean;
}

/**
 * Makes connections over TLS to one host that resume the session of an earlier one, as the agents of Node.js and undici
 * do: that spares both sides most of the handshake, and this one the check of a certificate that it has checked.
 * @param settings what all connections share
 * @returns the form of `http.request`'s option `createConnection`
 */
export function tlsConnector(
  settings: ConnectionOptions,
): (options: ConnectionOptions) => TLSSocket {
  let session: Buffer | undefined;
  return (options) => {
    const { host = '' } = options;
    const servername = settings.servername ?? (isIP(host) ? '' : host);
    // This is the path of a request; here it would mean a local socket.
    const target = { ...options, ...settings, servername, path: undefined };
    const socket = connect(session ? { ...target, session } : target);
    // Node.js emits it once the certificate has been checked, and not at all if it is refused.
    socket.once('session', (fresh: Buffer) => (session = fresh));
    // The other side may have refused or ignored the session.
    socket.once('close', (hadError: boolean) => {
      if (hadError || !socket.authorized) session = undefined;
    });
    return socket;
  };
}
