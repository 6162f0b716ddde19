// Tells the test what the page holds, after each change: the values of the fields, the keys seen, the window's size.
const keys = [];
let sent = '';
async function tell() {
  const state = JSON.stringify({
    field: field.value, lines: lines.value, keys, focus: document.hasFocus() ? document.activeElement.id : '', repeats: keys.filter(k => k.startsWith('repeat ')).length,
    width: innerWidth, height: innerHeight, outerWidth, outerHeight, screenX, screenY, screenWidth: screen.width, screenHeight: screen.height,
  });
  if (state === sent) return;
  sent = state;
  await fetch('/told', {method: 'POST', body: state});
}
addEventListener('keydown', e => keys.push((e.repeat ? 'repeat ' : 'down ') + e.key));
addEventListener('keyup', e => keys.push('up ' + e.key));
popup.addEventListener('click', () => open('/popup', 'p', 'width=300,height=200'));
fetch('/told', {method: 'POST', body: '{}'}).then(tell);
setInterval(tell, 20);
