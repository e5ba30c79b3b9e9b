/** A request the service refuses: its status (section 7) and the `msg` that says why. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /**
   * @param body what is answered; default `{msg}`
   */
  constructor(
    readonly status: number,
    msg: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly body: unknown = { msg },
  ) {
    super(msg);
  }
}

/** Missing or invalid parameters, or an illegal request. */
export const badRequest = (msg: string): Refusal => new Refusal(400, msg);

/** The device, the application or the path does not exist. */
export const notFound = (msg: string): Refusal => new Refusal(404, msg);
