// Sets the theme that was chosen in this browser before anything is painted.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system decides.
}

// While a server is replaced, its page may be of one build and its files of another, which knows none of them. What came is
// kept by the browser, so that the page is whole after a few times.
let missing = false;
const note = ({ target }) => {
  if (String(target.src ?? target.href).startsWith(`${location.origin}/assets/`)) missing = true;
};
// As it was before the page changed it.
const { href } = location;
// Without an answer the browser would show an error of its own, and nothing would look for the server any more.
const reload = async () => {
  const { ok } = await fetch('/', { method: 'HEAD', cache: 'no-store' }).catch(() => ({}));
  if (!ok) return setTimeout(reload, 1_000);
  // Nobody is signed in yet: the code of a sign-in link, which the page takes out of the address, may not be used yet.
  if (!document.querySelector('.app')) history.replaceState(history.state, '', href);
  location.reload();
};
addEventListener('error', note, true);
addEventListener('load', () => {
  removeEventListener('error', note, true);
  try {
    const times = missing ? Number(sessionStorage.getItem('missing')) + 1 : 0;
    sessionStorage.setItem('missing', String(times));
    if (missing && times <= 20) setTimeout(reload, 1_000);
  } catch {
    // Without storage it would not end.
  }
});
