/** The reactions there are, in the order they are shown, with the exact code points that are hashed. */
export const emojis = {
  thumbsup: '\u{1F44D}',
  check: '\u{2705}',
  eyes: '\u{1F440}',
  heart: '\u{2764}\u{FE0F}',
  tada: '\u{1F389}',
  question: '\u{2753}',
} as const;

export type ReactionName = keyof typeof emojis;
