/**
 * Line ends, control characters, halves of characters, and what changes the direction of the text after it:
 * with them a name could look like another one, or change how the number beside it reads.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text from outside as the editor may show it, on one line and in its own direction. */
export const plain = (text: string): string => text.replace(UNSAFE, '\ufffd');
