/** Section 5.1 names Beijing time as the server's: what its zone is taken to be, in milliseconds. */
export const BEIJING = 8 * 60 * 60_000;
