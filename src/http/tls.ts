import { isIP } from 'node:net';
import {
  connect,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { notConfigured } from '../errors';
import { oneLine, show, thrownText } from '../util/show';

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

/** What is wrong, by the code of the error; of others its text says it. */
const FLAWS: Readonly<Record<string, string>> = {
  ERR_OSSL_BAD_DECRYPT: 'the passphrase of the key is wrong or missing',
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key does not belong to the certificate',
  ERR_OSSL_PEM_NO_START_LINE: 'it is not in the PEM format',
};

/**
 * Reads certificates and key, once for all connections.
 * @throws DeviceCloudError `NOT_CONFIGURED` that says what is wrong
 */
export function secureContextOf(tls: TlsSettings | undefined): SecureContext {
  const { servername } = tls ?? {};
  // Node.js would have begun to connect before it throws, and the error of that socket would end the process.
  if (servername !== undefined && typeof servername !== 'string')
    throw notConfigured(
      `The server name of the TLS settings must be text, but is ${show(servername)}.`,
    );
  try {
    return createSecureContext(tls);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const flaw = FLAWS[code] ?? oneLine(thrownText(error), 200);
    throw notConfigured(`The certificate or key of the TLS settings cannot be used: ${flaw}.`);
  }
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
