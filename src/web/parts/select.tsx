/** A select element, such as a filter above a list. */

type Option = readonly [value: string, words: string];

/** An option whose label is its value. */
export const toOption = (word: string): Option => [word, word];

/**
 * @param label its accessible name; leave out inside a label element
 * @param class `in` for a field of a form
 */
export const Select = <Value extends string>(props: {
  label?: string;
  class?: string;
  id?: string;
  describedBy?: string;
  value: Value;
  options: readonly Option[];
  onChange: (value: Value) => void;
}) => (
  <select
    class={props.class ?? 'sel'}
    id={props.id}
    aria-label={props.label}
    aria-describedby={props.describedBy}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value as Value)}
  >
    {props.options.map(([value, words]) => (
      <option key={value} value={value}>
        {words}
      </option>
    ))}
  </select>
);
