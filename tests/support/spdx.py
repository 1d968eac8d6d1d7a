"""Checks the rules of SPDX 2.3 for a JSON document: the mandatory fields, and that every identifier that
is used is defined once. https://spdx.github.io/spdx-spec/v2.3/

  spdx.py FILE...
"""
import json
import re
import sys

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")
CREATOR = re.compile(r"(Person|Organization|Tool): .+")
LENGTHS = {"SHA1": 40, "SHA256": 64, "SHA384": 96, "SHA512": 128, "MD5": 32}
# The values that builds use, out of those in the specification.
RELATIONSHIPS = {"DESCRIBES", "CONTAINS", "GENERATED_FROM", "BUILD_TOOL_OF", "STATIC_LINK", "DEPENDS_ON"}
PURPOSES = {"APPLICATION", "FRAMEWORK", "LIBRARY", "CONTAINER", "OPERATING-SYSTEM", "DEVICE", "FIRMWARE",
            "SOURCE", "ARCHIVE", "FILE", "INSTALL", "OTHER"}


def check(document):
    def text(holder, key, what):
        value = holder.get(key)
        assert isinstance(value, str) and value.strip(), f"{what} has no {key}"
        return value

    assert text(document, "spdxVersion", "the document") == "SPDX-2.3"
    assert text(document, "dataLicense", "the document") == "CC0-1.0"
    assert text(document, "SPDXID", "the document") == "SPDXRef-DOCUMENT"
    text(document, "name", "the document")
    space = text(document, "documentNamespace", "the document")
    assert re.fullmatch(r"[a-z]+://[A-Za-z0-9._~:/?@!$&'()*+,;=%-]+", space), f"not a URI without '#': {space}"
    creation = document["creationInfo"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text(creation, "created", "creationInfo"))
    assert creation["creators"] and all(CREATOR.fullmatch(one) for one in creation["creators"]), creation

    licences = {one["licenseId"] for one in document.get("hasExtractedLicensingInfos", ())}
    for one in document.get("hasExtractedLicensingInfos", ()):
        assert re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", text(one, "licenseId", "a licence")), one
        text(one, "extractedText", one["licenseId"])
    named = set()

    ids = {"SPDXRef-DOCUMENT"}
    for package in document["packages"]:
        what = text(package, "SPDXID", "a package")
        assert ID.fullmatch(what), what
        assert what not in ids, f"{what} is defined twice"
        ids.add(what)
        text(package, "name", what)
        where = text(package, "downloadLocation", what)
        assert where in ("NOASSERTION", "NONE") or "://" in where, f"{what}: {where}"
        # Otherwise the package would need a verification code over its files.
        assert package.get("filesAnalyzed") is False, f"{what}: its files were not analysed"
        assert "packageVerificationCode" not in package and "hasFiles" not in package, what
        for key in ("licenseConcluded", "licenseDeclared"):
            expression = package.get(key, "NOASSERTION")
            assert EXPRESSION.fullmatch(expression), f"{what}: {expression}"
            named |= set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", expression))
        assert package.get("primaryPackagePurpose", "OTHER") in PURPOSES, package
        supplier = package.get("supplier", "NOASSERTION")
        assert supplier == "NOASSERTION" or re.fullmatch(r"(Person|Organization): .+", supplier), supplier
        for sum in package.get("checksums", ()):
            length = LENGTHS[sum["algorithm"]]
            assert re.fullmatch(f"[0-9a-f]{{{length}}}", sum["checksumValue"]), f"{what}: {sum}"
    assert named == licences, f"licences named {named}, defined {licences}"

    seen = set()
    for one in document["relationships"]:
        between = one["spdxElementId"], one["relationshipType"], one["relatedSpdxElement"]
        assert {between[0], between[2]} <= ids, f"not defined: {between}"
        assert between[1] in RELATIONSHIPS, between
        assert between not in seen, f"said twice: {between}"
        seen.add(between)
    described = {to for start, how, to in seen if (start, how) == ("SPDXRef-DOCUMENT", "DESCRIBES")}
    assert described, "the document describes nothing"
    reached, before = set(described) | {"SPDXRef-DOCUMENT"}, 0
    while before != len(reached):
        before = len(reached)
        reached |= {end for start, _, to in seen if {start, to} & reached for end in (start, to)}
    assert reached == ids, f"nothing relates to {ids - reached}"


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            check(json.load(file))
