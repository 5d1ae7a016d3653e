/** Characters that control a terminal or are invisible. */
import { needsInvisible } from '../../contract/one-line.ts';

/**
 * C0 except LF and TAB, DEL, C1; then default-ignorable code points and bidirectional controls; then interlinear
 * annotation characters.
 */
const invisible = /[\0-\x08\x0b-\x1f\x7f-\x9f\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}]/gu;

/** The text with each of these characters replaced by U+FFFD, except those that its emoji and words need. */
export const replaceInvisible = (text: string): string =>
  text.replaceAll(invisible, (character, at: number) => (needsInvisible(text, at) ? character : '\u{fffd}'));
