/** A choice from a list that opens, such as what a list is filtered by. */

type Option = readonly [value: string, words: string];

/** The same words for people and programs. */
export const asOption = (word: string): Option => [word, word];

/**
 * @param label its name; none where a label is around it
 * @param class `in` for a field of a form
 */
export const Select = <Value extends string>(props: {
  label?: string;
  class?: string;
  value: Value;
  options: readonly Option[];
  disabled?: boolean;
  choose: (value: Value) => void;
}) => (
  <select
    class={props.class ?? 'sel'}
    aria-label={props.label}
    value={props.value}
    disabled={props.disabled}
    onChange={(event) => props.choose(event.currentTarget.value as Value)}
  >
    {props.options.map(([value, words]) => (
      <option key={value} value={value}>
        {words}
      </option>
    ))}
  </select>
);
