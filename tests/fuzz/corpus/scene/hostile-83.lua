rawset(material, 'sand', 1) material.sand {}
