"""URLs that lead, or look as if they led, to addresses that outgoing calls may not reach."""

import ipaddress

PRIVATE_4 = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.254", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.255.255.254",
    "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.254", "192.0.0.8", "192.0.2.1", "192.88.99.1",
    "192.168.0.1", "192.168.255.254", "198.18.0.1", "198.19.255.254", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255"]
PRIVATE_6 = [
    "::", "::1", "0:0:0:0:0:0:0:1", "0000::0001", "::ffff:0:0", "100::1", "100:0:0:1::1", "1fff::1", "2001::1",
    "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2001:DB8::A", "2002::1", "3fff::1",
    "4000::1", "5f00::1", "64:ff9b:1::1", "fc00::1", "fd00::1", "FD12:3456::1", "fdff::1", "fe80::1", "febf::1",
    "fec0::1", "ff02::1", "ff0e::1"]
PUBLIC_4, PUBLIC_6 = "93.184.216.34", "2606:2800:220:1::1"


def hex6(address):
    """The last two groups of an IPv6 address that carries this one."""
    digits = f"{int(ipaddress.IPv4Address(address)):08x}"
    return f"{digits[:4]}:{digits[4:]}"


def hosts_of_4(address):
    """The ways to write an IPv4 address that libcurl or a resolver may know."""
    a, b, c, d = parts = [int(part) for part in address.split(".")]
    number = int(ipaddress.IPv4Address(address))
    return [
        address, str(number), f"0x{number:x}", f"0X{number:08X}", f"0{number:o}", f"0x{number:016x}",
        ".".join(f"0x{part:x}" for part in parts), ".".join(f"0{part:o}" for part in parts),
        ".".join(f"0x{part:08x}" for part in parts), ".".join(f"{part:08o}" for part in parts),
        f"{a}.{number & 0xffffff}", f"{a}.{b}.{number & 0xffff}", f"0x{a:x}.{b}.0{c:o}.{d}",
        f"{a}.0x{number & 0xffffff:x}",
        f"[::ffff:{address}]", f"[::ffff:{hex6(address)}]", f"[0:0:0:0:0:FFFF:{hex6(address).upper()}]"]


def carriers_of(address):
    """IPv6 addresses that tunnels and translators turn into this IPv4 address."""
    low = hex6(address)
    inverted = hex6(str(ipaddress.IPv4Address(int(ipaddress.IPv4Address(address)) ^ 0xffffffff)))
    return [f"[{text}]" for text in (
        f"::{address}", f"::{low}", f"::ffff:0:{address}", f"64:ff9b::{address}", f"64:ff9b::{low}",
        f"64:ff9b:1::{address}", f"2002:{low}::1", f"2001:0:5db8:d822::{inverted}", f"2606:2800:220:1::5efe:{address}",
        f"2606:2800:220:1:200:5efe:{low}")]


def tricks_with(address):
    """What a reader of one mind takes for a public host, and one of another mind for `address`."""
    public, wide = PUBLIC_4, "".join(chr(ord(c) + 0xfee0) if c.isdigit() else c for c in address)
    escaped = "".join(f"%{ord(c):02x}" for c in address)
    authorities = [
        # userinfo, real and sham
        f"{public}@{address}", f"user:{public}@{address}", f"a@{public}@{address}", f"{address}@{public}@{address}",
        f"{public}:80@{address}:80", f"@{address}", f":@{address}", f"{public}%40{address}", f"{public}%00@{address}",
        f"{public}\\@{address}", f"{address}\\@{public}", f"{address}%2f@{public}", f"[::ffff:{address}]@{public}",
        # separators that some take for an end
        f"{address}\\.{public}", f"\\{address}", f"{address}\\", f"{public};{address}", f"{public},{address}",
        f"{public}&{address}", f"{public}|{address}", f"{{{address},{public}}}",
        # escapes and other alphabets
        escaped, escaped.upper(), address.replace(".", "%2e"), address.replace(".", "%252e"), f"{address}%00",
        f"{address}%00.{public}", f"{address}%20", f"{address}%0d%0a", wide, address.replace(".", "。"),
        address.replace(".", "．"), address.replace(".", "｡"), f"{address}\u200b", f"\ufeff{address}",
        # dots, brackets, zones
        f"{address}.", f"{address}..", f".{address}", f"{address}.:80", f"[{address}]", f"[::ffff:{address}%25lo]",
        f"[::ffff:{address}%lo]", f"[::ffff:{address}]x", f"x[::ffff:{address}]", f"[[::ffff:{address}]]",
        f"[::ffff:{address}", f"::ffff:{address}",
        # ports
        f"{address}:", f"{address}:80", f"{address}:00080", f"{address}:443", f"{address}:80:443", f"{address}:+80",
        f"{address}:0x50", f"{address}:65616", f"{address}:0",
        # white space and control characters
        f"{address}:80 ", f"{address} ", f" {address}", f"{address}\t", f"{address}\r\n", f"{address}\0",
        f"{address[:3]}\t{address[3:]}"]
    ends = [f"#@{public}/", f"?@{public}/", f"#{public}", f"/@{public}", f"/../../{public}", f"//{public}", ""]
    starts = [
        "http:///", "http:////", "http:/", "http:", "http:\\\\", "http://\\\\", "http:/\\", "//", "\\\\", "", " http://",
        "\thttp://", "ht\ntp://", "HTTP://", "hTtPs://", "https://", "http+unix://", "ftp://", "gopher://", "dict://",
        "ldap://", "tftp://", "telnet://", "ws://", "file://", "url:http://", "http:http://", "view-source:http://",
        "javascript:http://"]
    return [*(f"http://{authority}/in" for authority in authorities), *(f"http://{address}{end}" for end in ends),
            *(f"{start}{address}/in" for start in starts), *(f"{start}{address}:80/in" for start in starts)]


def hostile_urls(names):
    """Each once, in a fixed order. `names` are those that the test's resolver leads to private addresses."""
    urls = [f"http://{host}/in" for address in PRIVATE_4 for host in hosts_of_4(address)]
    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8"):
        urls += [f"http://{host}/in" for host in carriers_of(address)]
    urls += [f"{scheme}://[{address}]/in" for address in PRIVATE_6 for scheme in ("http", "https")]
    for address in ("127.0.0.1", "169.254.169.254"):
        urls += tricks_with(address)
    urls += [f"http://[fe80::1%25{zone}]/in" for zone in ("lo", "1", "eth0", "")]
    urls += [f"http://{name}/in" for name in (
        "localhost", "LOCALHOST", "localhost.", "a.localhost", "local%68ost", "ｌocalhost", "ⓛocalhost", "localhost:80",
        "[localhost]", *names)]
    return list(dict.fromkeys(urls))


def public_urls(name):
    """Spellings of the addresses that may be reached, by number and by a name."""
    return [f"http://{host}/in" for host in (*hosts_of_4(PUBLIC_4), f"[{PUBLIC_6}]", f"[{PUBLIC_6.upper()}]", name)]
