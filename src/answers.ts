/** What every call over HTTP resolves to. */
export interface Answer<T> {
  /** The HTTP status: 200 of the open API, any 2XX of the server API (section 7). */
  statusCode: number;
  /** The answer's JSON; null if a 2XX other than 200 of the server API had none. */
  body: T;
}

/** The answer of the pushes, endpoints 3 and 4. */
export interface PushAnswer {
  /** `OK` of a push to a device, `success` of one to all. */
  msg: string;
}

/** The answer of the refresh, endpoint 11. */
export interface RefreshAnswer {
  /** `online` when the device answered; which others there are is not shown. */
  status: string;
  /** `OK`. */
  msg: string;
}

/** The answer of endpoints 9, 10 and 12. */
export interface ResultAnswer {
  /** The pins' level characters, index = pin (endpoint 9); of the others text that is not shown. */
  result: string;
}
