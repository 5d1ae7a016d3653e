/** Characters that control a terminal or are invisible. */

/**
 * C0 except LF and TAB, DEL, C1; then all that Unicode lets a program show as nothing, which holds the bidirectional
 * controls and the tags; then the marks of annotations.
 */
const invisible = /[\0-\x08\x0b-\x1f\x7f-\x9f\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}]/gu;

/** A text in which each of these is a character that is seen. */
export const replaceInvisible = (text: string): string => text.replaceAll(invisible, '\u{fffd}');
