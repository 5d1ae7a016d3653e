/** Placeholder. */
export default function Everything() {
  return <main class="page" id="main" />;
}
