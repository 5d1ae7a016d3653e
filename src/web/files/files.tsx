/** Placeholder. */
export default function Files() {
  return <div class="page" />;
}
