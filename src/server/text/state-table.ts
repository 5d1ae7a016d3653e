/**
 * State machines as tables: what happens to a record in a state when something comes to it. The code asks the table what
 * to do, and a test walks every row of it.
 */

/** One row. Of the rows of a state and a trigger the first whose condition holds is taken. */
export interface Transition<State extends string, Trigger extends string, Condition extends string, Effect> {
  /** Names the row, as the comment of its table explains. */
  id: string;
  from: readonly State[];
  on: readonly Trigger[];
  /** Left out: in every other case. */
  when?: Condition;
  /** Left out: the state stays. */
  to?: State;
  effect: Effect;
}

/** Whether a condition holds now; asked only where a row depends on it. */
type Conditions<Condition extends string> = { [Name in Condition]?: () => boolean | Promise<boolean> };

/**
 * The row that a state and a trigger lead to.
 * @throws Error when the table has none: of each state and trigger one row has no condition, which a test proves.
 */
export async function transition<S extends string, T extends string, C extends string, E>(
  table: readonly Transition<S, T, C, E>[],
  state: S,
  trigger: T,
  conditions: Conditions<C> = {},
): Promise<Transition<S, T, C, E>> {
  for (const row of transitionsFrom(table, state, trigger)) {
    if (row.when === undefined || (await conditions[row.when]?.())) return row;
  }
  throw new Error(`nothing is said of ${trigger} in ${state}`);
}

/** The same for a trigger that depends on nothing. */
export function plainTransition<S extends string, T extends string, C extends string, E>(
  table: readonly Transition<S, T, C, E>[],
  state: S,
  trigger: T,
): Transition<S, T, C, E> {
  const row = transitionsFrom(table, state, trigger).find(({ when }) => when === undefined);
  if (!row) throw new Error(`nothing is said of ${trigger} in ${state}`);
  return row;
}

/** All rows of a state and a trigger, in their order. */
export const transitionsFrom = <S extends string, T extends string, C extends string, E>(
  table: readonly Transition<S, T, C, E>[],
  state: S,
  trigger: T,
): Transition<S, T, C, E>[] => table.filter(({ from, on }) => from.includes(state) && on.includes(trigger));
