/** TLS settings, for HTTP and channel alike. Each is that of the same name in `tls.connect` of Node.js. */
export interface TlsSettings {
  /** Certificates, in PEM, of the authorities to trust in place of the usual ones. */
  ca?: string | Buffer;
  /** This client's certificate, in PEM, if the service asks for one. */
  cert?: string | Buffer;
  /** The private key of `cert`, in PEM. */
  key?: string | Buffer;
  /** The passphrase of `key`. */
  passphrase?: string;
  /** The host name to ask for and to check the certificate against; default: that of `baseUrl`. */
  servername?: string;
  /** `false` accepts any certificate: for a test, never for a service. Default `true`. */
  rejectUnauthorized?: boolean;
}
